-- Staging model of the contracts mart: one row per extracted contract, every column typed.
-- What cannot be typed becomes NULL; the load never stops.
with extracted as (
    select
        po_number,
        effective_date,
        signed_at,
        total,
        discount,
        net_weight,
        term_months,
        risk_score,
        auto_renew,
        billing_cycle
    from raw.contract_extractions
),

cleaned as (
    select
        po_number,
        effective_date,
        signed_at,
        regexp_extract(total, '[0-9][0-9,]*(\.[0-9]+)?') as total_digits,
        trim(replace(discount, '%', '')) as discount_digits,
        regexp_extract(net_weight, '[0-9][0-9,]*(\.[0-9]+)?') as weight_digits,
        lower(trim(regexp_replace(net_weight, '[0-9.,]', '', 'g'))) as weight_unit,
        term_months,
        risk_score,
        lower(trim(auto_renew)) as auto_renew_token,
        lower(trim(billing_cycle)) as cycle_token
    from extracted
)

select
    po_number,
    try_cast(effective_date as date) as effective_date,
    try_cast(signed_at as timestamp) as signed_at,
    try_cast(replace(total_digits, ',', '') as decimal(18, 2)) as total_amount,
    try_cast(discount_digits as decimal(5, 2)) as discount,
    cast(
        case weight_unit
            when 'kg' then 1000 * try_cast(replace(weight_digits, ',', '') as double)
            when 'g' then try_cast(replace(weight_digits, ',', '') as double)
        end as bigint
    ) as net_weight_g,
    try_cast(term_months as integer) as term_months,
    try_cast(risk_score as integer) as risk_score,
    case
        when auto_renew_token in ('true', 'yes', 'y', '1') then true
        when auto_renew_token in ('false', 'no', 'n', '0') then false
    end as auto_renew,
    case
        when cycle_token in ('monthly', 'month') then 'monthly'
        when cycle_token in ('quarterly', 'quarter') then 'quarterly'
        when cycle_token in ('annual', 'annually', 'yearly') then 'annual'
    end as billing_cycle
from cleaned
