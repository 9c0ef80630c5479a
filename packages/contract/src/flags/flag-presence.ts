import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { inProject, routesOf } from '../route.ts'
import { Bool, Integer, List, NamedObject } from '../schema.ts'
import { FlagParams } from './flags.ts'

export const presentPeopleMax = 10
/** A page that reports less often is taken for closed. */
export const presenceSeconds = 90

const PresentPerson = NamedObject('PresentPerson', 'Someone else who has the flag open in the dashboard.', {
  user: UserBasic,
  is_editing: Bool('Whether the person has unsaved changes.', true),
})

export const FlagPresence = NamedObject('FlagPresence', 'Who else has a flag open in the dashboard.', {
  count: Integer('Number of other people.', 1),
  results: List(PresentPerson, `Those who edit first; at most ${presentPeopleMax}.`),
})
export type FlagPresence = Static<typeof FlagPresence>

const path = '/api/projects/:project_id/feature_flags/:id/presence/:page_id' as const
const params = Type.Object({
  ...FlagParams.properties,
  page_id: Type.String({
    pattern: '^[0-9A-Za-z-]{8,36}$',
    description: 'Random id of the open page, chosen by the client.',
    examples: ['k3v9x0q2m7ab'],
  }),
})
const route = routesOf('Flag presence', {
  // A view-only member can be present: the report changes nothing.
  access: inProject('feature_flag:read'),
  isAudited: false,
  params,
})

export const flagPresenceRoutes = {
  report: route.put(path, {
    operationId: 'reportFlagPresence',
    summary: 'Report that a flag is open in the dashboard, and list who else has it open',
    description: `A report counts for ${presenceSeconds} seconds; repeat it while the page is visible. Nothing is stored: nodes keep reports in memory and notify each other with \`NOTIFY\`. The change stream emits \`presence\` when someone else opens, edits or closes the flag.`,
    body: NamedObject('FlagPresenceReport', 'What the page is doing.', {
      is_editing: Bool('Whether the page has unsaved changes.', false),
    }),
    responses: { 200: FlagPresence },
  }),
  leave: route.delete(path, {
    operationId: 'leaveFlag',
    summary: 'Report that a flag is no longer open',
    description: 'Idempotent. Without it, the last report expires.',
    responses: { 204: null },
  }),
}
