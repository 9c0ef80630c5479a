// Written by `npm run tables` from the migrated schema. Do not edit.
import type { Generated } from 'kysely'

/**
 * The rows as they are stored. Portable columns throughout (ADR 2): integer booleans, JSON as text, instants as text that sorts.
 * Only `*.sql.ts` files read this; they turn rows into domain values and back.
 */
export interface Tables {
  account_ties: {
    account_id: number
    by_id: number
    kind: string
    at: string
  }
  account_tokens: {
    hash: string
    user_id: number
    purpose: string
    data: string
    attempts: number
    expires_at: string
  }
  activity: {
    id: Generated<number>
    organization_id: string
    project_id: number | null
    scope: string
    item_id: string
    activity: string
    user_id: number | null
    key_label: string | null
    detail: string
    created_at: string
  }
  api_keys: {
    id: string
    user_id: number
    label: string
    hash: string
    mask: string
    scopes: string
    scoped_teams: string
    scoped_organizations: string
    is_session: number
    created_at: string
    last_used_at: string | null
    expires_at: string | null
    sign_in_id: string | null
    trust_relationship_id: string | null
  }
  approval_policies: {
    id: Generated<number>
    project_id: number
    action_key: string
    conditions: string
    quorum: number
    allow_self_approve: number
    expires_after_hours: number
    enabled: number
    created_by_id: number
    created_at: string
    updated_at: string
    version: number
    reapprove_percent: Generated<number | null>
    reapprove_people: Generated<number | null>
    emergency_roles: Generated<string>
    allow_keys: Generated<number>
  }
  approval_policy_approvers: {
    id: Generated<number>
    policy_id: number
    user_id: number | null
    role_id: string | null
  }
  audit_entries: {
    organization_id: string
    sequence: number
    at: string
    user_id: number | null
    operation: string
    objects: string
    content: string
    hash: string
  }
  audit_heads: {
    organization_id: string
    sequence: number
    hash: string
    previous_hash: string
    pruned_sequence: Generated<number>
    pruned_hash: string | null
  }
  change_head: {
    id: number
    sequence: number
  }
  change_request_comments: {
    id: Generated<number>
    project_id: number
    change_request_id: number
    parent_id: number | null
    created_by_id: number
    text: string
    created_at: string
    edited_at: string | null
  }
  change_request_decisions: {
    id: Generated<number>
    change_request_id: number
    user_id: number
    decision: string
    reason: string
    content_hash: string
    impact: string | null
    decided_at: string
  }
  change_requests: {
    id: Generated<number>
    project_id: number
    kind: string
    flag_id: number | null
    cohort_id: number | null
    action_key: string
    state: string
    base_version: number | null
    base: string
    patch: string
    content_hash: string
    title: string
    reason: string
    impact: string | null
    requester_id: number
    key_label: string | null
    is_by_key: number
    created_at: string
    updated_at: string
    expires_at: string
    apply_at: string | null
    due_at: string | null
    applied_at: string | null
    applied_version: number | null
    applied_by_id: number | null
    failure: string | null
    emergency_reason: string | null
    review_note: string | null
    reviewed_by_id: number | null
    reviewed_at: string | null
    version: number
  }
  changes: {
    sequence: number
    topic: string
    organization_id: string | null
    project_id: number | null
    entity_id: string
    at: string
  }
  code_references: {
    repository_id: number
    project_id: number
    flag_key: string
    path: string
    line: number
    excerpt: string
  }
  code_repositories: {
    id: Generated<number>
    project_id: number
    name: string
    branch: string | null
    commit_hash: string | null
    scanned_at: string
  }
  cohort_imports: {
    id: Generated<number>
    cohort_id: number
    distinct_ids: string
  }
  cohort_jobs: {
    cohort_id: number
    task: string
    position: number
    processed: number
    matched: number
    total: number | null
    attempts: number
    due_at: string
    revision: string
  }
  cohort_people: {
    cohort_id: number
    person_id: number
  }
  cohorts: {
    id: Generated<number>
    project_id: number
    name: string
    description: string
    filters: string
    is_static: number
    deleted: number
    created_by_id: number
    created_at: string
    updated_at: string
    version: number
    people_count: number | null
    last_calculation: string | null
    errors_calculating: number
    last_error: string | null
  }
  counted_events: {
    id: Generated<number>
    project_id: number
    name: string
    counted_since: string
    ended_at: string | null
    history_of: number | null
    history_from: string | null
    read_after: string | null
    read_ids: number | null
    total_ids: number | null
    read_at: string | null
  }
  dashboards: {
    id: Generated<number>
    project_id: number
    name: string
    description: string
    pinned: number
    deleted: number
    flag_id: number | null
    is_enriched: number
    created_by_id: number
    created_at: string
    tags: Generated<string>
    tiles: Generated<string>
  }
  definition_values: {
    project_id: number
    name: string
    value: string
    last_seen_at: string
  }
  definitions: {
    project_id: number
    kind: string
    name: string
    property_type: string | null
    created_at: string
    last_seen_at: string
  }
  emails: {
    id: Generated<number>
    organization_id: string
    message_id: string
    recipient: string
    content: string
    due_at: string
    attempts: number
    created_at: string
  }
  environment_sets: {
    id: Generated<number>
    organization_id: string
    name: string
    created_by_id: number
    created_at: string
    updated_at: string
    version: number
  }
  environments: {
    project_id: number
    set_id: number
    name: string
    position: number
    is_production: number
  }
  event_backlog: {
    id: Generated<number>
    created_at: string
    bytes: number
    block: string | null
    body: string
  }
  event_counts: {
    project_id: number
    event: string
    flag_key: string
    flag_value: string
    minute: number
    count: number
  }
  favorite_flags: {
    project_id: number
    user_id: number
    flag_id: number
  }
  flag_comments: {
    id: Generated<number>
    flag_id: number
    project_id: number
    created_by_id: number
    text: string
    created_at: string
  }
  flag_details: {
    flag_id: number
    project_id: number
    owner_id: number | null
    expected_end: string | null
    links: string
  }
  flag_last_used: {
    project_id: number
    flag_key: string
    kind: string
    at: string
  }
  flag_metrics: {
    flag_id: number
    series: string
    active_since: string
    minute: string
    samples: number
    total: number
    lowest: number
    highest: number
  }
  flag_role_access: {
    id: Generated<number>
    flag_id: number
    role_id: string
    added_at: string
    updated_at: string
  }
  flag_usage: {
    id: Generated<number>
    project_id: number
    flag_key: string
    kind: string
    variant: string
    day: string
    calls: number
    kept_users: number
    sampling_level: number
  }
  flag_usage_users: {
    usage_id: number
    user_hash: number
  }
  flag_versions: {
    flag_id: number
    version: number
    snapshot: string
    user_id: number | null
    created_at: string
  }
  flags: {
    id: Generated<number>
    project_id: number
    key: string
    name: string
    filters: string
    is_multivariant: number
    deleted: number
    active: number
    created_by_id: number
    created_at: string
    ensure_experience_continuity: number
    rollback_conditions: string
    performed_rollback: number
    tags: string
    usage_dashboard_id: number
    analytics_dashboards: string
    has_enriched_analytics: number
    bucketing_identifier: string | null
    evaluation_runtime: string | null
    evaluation_contexts: string
    version: number
    updated_at: string
    last_modified_by_id: number | null
    active_since: Generated<string>
    is_fully_rolled_out: Generated<number>
    archived: Generated<number>
  }
  freezes: {
    id: Generated<number>
    organization_id: string
    environment_set_id: number | null
    project_id: number | null
    tag: string | null
    starts_at: string | null
    ends_at: string | null
    rrule: string | null
    duration_minutes: number | null
    time_zone: string
    reason: string
    created_by_id: number
    created_at: string
    except_roles: Generated<string>
  }
  group_types: {
    project_id: number
    type_index: number
    name: string
  }
  groups: {
    id: Generated<number>
    project_id: number
    type_index: number
    key: string
    properties: string
    version: number
    created_at: string
  }
  hash_key_overrides: {
    person_id: number
    flag_key: string
    hash_key: string
  }
  identity_links: {
    id: string
    provider_id: string
    subject: string
    user_id: number
    created_at: string
  }
  identity_providers: {
    id: string
    organization_id: string
    name: string
    issuer: string
    client_id: string
    client_secret: string | null
    scopes: string
    group_claim: string
    group_mappings: string
    default_level: number
    session_hours: number
    enabled: number
    problem: string | null
    last_sign_in_at: string | null
    created_at: string
    updated_at: string
    saved_by_id: number | null
  }
  import_certificates: {
    id: Generated<number>
    project_id: number
    import_id: number | null
    summary: string
    certificate: string
    created_at: string
  }
  import_links: {
    project_id: number
    source: string
    kind: string
    source_id: string
    flag_id: number | null
    cohort_id: number | null
    source_hash: string
    target_hash: string
    imported_at: string
  }
  import_plan_items: {
    plan_id: number
    position: number
    target: Generated<number>
    project_id: number | null
    kind: string
    source_id: string
    source_key: string
    status: string
    reasons: string
    drift: string
    definition: string | null
    outcome: string | null
  }
  import_plans: {
    id: Generated<number>
    organization_id: string
    source: string
    targets: string
    created_by_id: number
    created_at: string
    expires_at: string
    applied_at: string | null
    new_environment_set: string | null
  }
  inbox_seen: {
    user_id: number
    project_id: number
    seen_until: string
  }
  instance: {
    name: string
    value: string
    created_at: string | null
  }
  invites: {
    id: string
    organization_id: string
    target_email: string
    first_name: string
    level: number
    created_by_id: number
    created_at: string
    expires_at: string
    token_hash: string | null
    is_emailed: Generated<number>
  }
  known_sign_ins: {
    key: string
    last_at: string
  }
  leases: {
    name: string
    holder: string
    token: number
    expires_at: string
  }
  memberships: {
    id: string
    organization_id: string
    user_id: number
    level: number
    joined_at: string
    updated_at: string
  }
  organization_domains: {
    id: string
    organization_id: string
    domain: string
    challenge: string
    verified_at: string | null
    created_at: string
  }
  organizations: {
    id: string
    name: string
    slug: string
    plugins_access_level: number
    created_at: string
    updated_at: string
    default_access_level: Generated<number>
    requires_second_factor: Generated<number>
    requires_single_sign_on: Generated<number>
  }
  payload_schemas: {
    flag_id: number
    project_id: number
    schema: string
    updated_at: string
  }
  person_distinct_ids: {
    project_id: number
    distinct_id: string
    person_id: number
  }
  person_event_days: {
    person_id: number
    event_id: number
    day: number
    count: number
    is_kept: number
  }
  person_seen: {
    person_id: number
    seen_on: string
  }
  persons: {
    id: Generated<number>
    project_id: number
    uuid: string
    properties: string
    email: string | null
    is_identified: number
    distinct_id_count: number
    version: number
    created_at: string
  }
  plugin_acceptances: {
    organization_id: string
    plugin_id: number
    digest: string
    accepted_at: string
  }
  plugin_attachments: {
    id: Generated<number>
    config_id: number
    key: string
    file_name: string
    content_type: string
    size_bytes: number
    contents_base64: string
  }
  plugin_code: {
    plugin_id: number
    code: string
  }
  plugin_configs: {
    id: Generated<number>
    project_id: number
    plugin_id: number
    enabled: number
    position: number
    config: string
    secrets: string | null
    error: string | null
    name: string | null
    description: string | null
    deleted: number
    allowed_hosts: string
    version: number
    created_at: string
    updated_at: string
  }
  plugin_files: {
    plugin_id: number
    name: string
    source: string
  }
  plugin_flag_cursors: {
    flag_id: number
    version: number
  }
  plugin_jobs: {
    id: Generated<number>
    config_id: number
    kind: string
    name: string
    payload: string
    run_at: string
    attempts: number
    leased_until: string | null
    created_at: string
  }
  plugin_logs: {
    id: Generated<number>
    config_id: number
    logged_at: string
    source: string
    type: string
    message: string
    instance_id: string
  }
  plugin_metrics: {
    config_id: number
    hour: string
    calls: number
    failures: number
    dropped_events: number
    cpu_ms: number
    memory_bytes: number
  }
  plugin_releases: {
    plugin_id: number
    digest: string
    content: string
    code: string | null
    files: string | null
  }
  plugin_schedules: {
    config_id: number
    task: string
    period: number
  }
  plugin_storage: {
    config_id: number
    key: string
    value: string
  }
  plugins: {
    id: Generated<number>
    organization_id: string
    plugin_type: string
    name: string
    description: string
    url: string | null
    private_token: string | null
    icon: string | null
    config_schema: string
    tag: string | null
    latest_tag: string | null
    install_key: string | null
    is_global: number
    capabilities: string
    metrics: string
    public_jobs: string
    allowed_hosts: string
    version: number
    created_at: string
    updated_at: string
    files_digest: Generated<string>
  }
  projects: {
    id: Generated<number>
    uuid: string
    organization_id: string
    name: string
    api_token: string
    timezone: string
    property_matching_version: number
    created_at: string
    updated_at: string
    previous_api_token: string | null
    previous_token_expires_at: string | null
  }
  received_batches: {
    id: string
    received_at: string
  }
  recovery_codes: {
    hash: string
    user_id: number
  }
  resource_access: {
    id: Generated<number>
    organization_id: string
    resource: string
    access_level: number
    created_by_id: number
    created_at: string
    updated_at: string
  }
  role_memberships: {
    id: string
    role_id: string
    user_id: number
    joined_at: string
    updated_at: string
  }
  roles: {
    id: string
    organization_id: string
    name: string
    name_folded: string
    access_level: number
    created_by_id: number
    created_at: string
  }
  saved_views: {
    id: Generated<number>
    project_id: number
    user_id: number
    name: string
    query: string
    is_shared: number
    created_at: string
  }
  scheduled_changes: {
    id: Generated<number>
    project_id: number
    flag_id: number
    payload: string
    scheduled_at: string
    status: string
    steps_done: number
    due_at: string
    attempts: number
    failure_reason: string | null
    executed_at: string | null
    created_by_id: number
    created_at: string
    updated_at: string
    version: number
    is_recurring: Generated<number>
    recurrence_interval: string | null
    cron_expression: string | null
    timezone: Generated<string>
    first_at: string | null
    end_date: string | null
    last_executed_at: string | null
    pair_id: string | null
    change_request_id: number | null
    content_hash: string | null
  }
  schema_migrations: {
    version: number
    name: string
    applied_at: string
  }
  scim_groups: {
    role_id: string
    external_id: string | null
    created_at: string
    updated_at: string
  }
  scim_suspended_roles: {
    role_id: string
    user_id: number
  }
  scim_tokens: {
    id: string
    organization_id: string
    user_id: number
    label: string
    hash: string
    mask: string
    created_by_id: number
    created_at: string
    expires_at: string | null
    last_used_at: string | null
  }
  scim_users: {
    organization_id: string
    user_id: number
    user_name: string
    user_name_folded: string
    external_id: string | null
    resource: string
    level_before: number | null
    created_at: string
    updated_at: string
    deleted_at: string | null
  }
  sdk_usage: {
    project_id: number
    library: string
    version: string
    calls: number
    first_seen_at: string
    last_seen_at: string
  }
  second_factors: {
    id: string
    user_id: number
    kind: string
    name: string
    secret: string
    credential_id: string | null
    rp_id: string | null
    transports: string
    counter: number
    created_at: string
    last_used_at: string | null
  }
  secret_keys: {
    id: string
    project_id: number
    label: string
    hash: string
    mask: string
    created_at: string
  }
  shadow_days: {
    project_id: number
    flag_id: number
    day: string
    agree: number
    differ: number
    differed_at: string | null
    example: string | null
    failed: Generated<number>
  }
  sign_in_failures: {
    key: string
    count: number
    since: string
  }
  sign_ins: {
    id: string
    user_id: number
    refresh_hash: string | null
    user_agent: string
    address: string
    created_at: string
    expires_at: string
    method: Generated<string>
    proven_at: string | null
    provider_id: string | null
    provider_session_id: string | null
    id_token: string | null
  }
  trust_relationships: {
    id: string
    organization_id: string
    name: string
    issuer: string
    audience: string
    rules: string
    scopes: string
    project_ids: string
    ttl_seconds: number
    user_id: number
    created_by_id: number
    created_at: string
    updated_at: string
    last_used_at: string | null
  }
  used_tokens: {
    hash: string
    expires_at: string
  }
  users: {
    id: Generated<number>
    uuid: string
    distinct_id: string
    first_name: string
    email: string
    password_hash: string | null
    is_email_verified: number
    is_active: number
    current_organization_id: string | null
    current_project_id: number | null
    date_joined: string
    is_staff: Generated<number>
    change_request_emails: Generated<number>
    language: string | null
    is_service: Generated<number>
  }
  webhook_deliveries: {
    id: Generated<number>
    webhook_id: number
    event_id: string
    kind: string
    event: string
    status: string
    due_at: string
    attempts: number
    response_status: number | null
    failure: string | null
    created_at: string
    attempted_at: string | null
  }
  webhooks: {
    id: Generated<number>
    organization_id: string
    project_id: number
    name: string
    url: string
    format: string
    events: string
    tag: string | null
    secret: string
    previous_secret: string | null
    previous_secret_expires_at: string | null
    enabled: number
    failures: number
    disabled_reason: string | null
    created_by_id: number
    created_at: string
    updated_at: string
    audit_sequence: number | null
  }
}
