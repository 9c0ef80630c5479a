import { expect, it } from 'vitest'
import { namedTables } from './stored-references.ts'
import { tableShapes } from './table-shapes.ts'

/** They name something outside of the database, or what an export leaves out or rewrites by a rule of its own. */
const otherIds: Readonly<Record<string, readonly string[]>> = {
  activity: ['item_id'],
  audit_entries: ['organization_id', 'user_id'],
  audit_heads: ['organization_id'],
  changes: ['organization_id', 'project_id', 'entity_id'],
  emails: ['message_id'],
  identity_providers: ['client_id', 'saved_by_id'],
  import_certificates: ['import_id'],
  import_links: ['source_id'],
  person_distinct_ids: ['distinct_id'],
  plugin_logs: ['instance_id'],
  scheduled_changes: ['pair_id'],
  scim_groups: ['external_id'],
  scim_users: ['external_id'],
  second_factors: ['credential_id', 'rp_id'],
  sign_ins: ['provider_session_id'],
  users: ['distinct_id', 'current_organization_id', 'current_project_id'],
  webhook_deliveries: ['event_id'],
}

it('knows what every column with an id names, also where a migration has dropped the foreign key', async () => {
  const unknown = (await tableShapes()).map(shape => {
    const named = namedTables(shape).map(({ column }) => column)
    return [shape.name, shape.columns.filter(column => column.endsWith('_id') && !named.includes(column))] as const
  })
  // One that is missing here is left out of the export of its project, and its rows stay when what they name is removed.
  expect(Object.fromEntries(unknown.filter(([, columns]) => columns.length > 0))).toEqual(otherIds)
})
