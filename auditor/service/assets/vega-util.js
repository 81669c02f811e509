// Where the vendored interpreter finds what it imports: in the vendored library, which has it all.
export const { ascending, isString, DisallowedObjectProperties } = globalThis.vega;
