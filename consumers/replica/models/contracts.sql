-- The contracts mart in PostgreSQL, as dbt compiles it. A cast is strict here and stops the load, so each stands behind
-- a pattern; what does not match becomes NULL.
with extracted as (
    select
        contract_id,
        po_number,
        effective_date,
        signed_at,
        substring(total from '[0-9][0-9,]*(?:\.[0-9]+)?') as total_digits,
        trim(replace(discount, '%', '')) as discount_digits,
        replace(substring(net_weight from '[0-9][0-9,]*(?:\.[0-9]+)?'), ',', '') as weight_digits,
        lower(trim(regexp_replace(net_weight, '[0-9.,]', '', 'g'))) as weight_unit,
        trim(term_months) as term_months,
        trim(risk_score) as risk_score,
        lower(trim(auto_renew)) as auto_renew_token,
        lower(trim(billing_cycle)) as cycle_token
    from raw.contract_extractions
)

select
    contract_id,
    po_number,
    case when effective_date ~ '^\d{4}-\d{2}-\d{2}$' then effective_date::date end as effective_date,
    case when signed_at ~ '^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}' then signed_at::timestamp end as signed_at,
    replace(total_digits, ',', '')::numeric(18, 2) as total_amount,
    case when discount_digits ~ '^-?\d+(\.\d+)?$' then discount_digits::numeric(5, 2) end as discount,
    round(
        case weight_unit
            when 'kg' then 1000 * weight_digits::numeric
            when 'g' then weight_digits::numeric
        end
    )::bigint as net_weight_g,
    case when term_months ~ '^\d{1,9}$' then term_months::integer end as term_months,
    case when risk_score ~ '^\d{1,9}$' then risk_score::integer end as risk_score,
    case
        when auto_renew_token in ('true', 'yes', 'y', '1') then true
        when auto_renew_token in ('false', 'no', 'n', '0') then false
    end as auto_renew,
    case
        when cycle_token in ('monthly', 'month') then 'monthly'
        when cycle_token in ('quarterly', 'quarter') then 'quarterly'
        when cycle_token in ('annual', 'annually', 'yearly') then 'annual'
    end as billing_cycle
from extracted
