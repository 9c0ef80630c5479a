import Type, { type Static } from 'typebox'
import { ScheduledChange } from '../flags/scheduled-changes.ts'
import { UserBasic } from '../organizations/users.ts'
import { inProject, routesOf } from '../route.ts'
import { Bool, Instant, Integer, List, NamedObject, Nullable, ObjectOf, ProjectParams, Text } from '../schema.ts'
import { flagUsageDays } from './flag-list.ts'

/** Entries of each list; counts are not limited. */
export const homeEntriesMax = 6
export const homeChangesMax = 10

const flagFields = {
  id: Integer('Id of the flag.', 12),
  key: Text('Key of the flag.', 'new-checkout'),
}

const HomeRequest = NamedObject('HomeRequest', 'A change request that waits for the caller.', {
  id: Integer('Id of the change request.', 21),
  title: Text('Its title.', 'Update new-checkout'),
  state: Text('Its state.', 'pending'),
  created_by: UserBasic,
  created_at: Instant('When it was opened.'),
})
export type HomeRequest = Static<typeof HomeRequest>

const HomeSchedule = NamedObject(
  'HomeSchedule',
  'A scheduled change that is next. Its payload has the steps and rollouts, not other values.',
  {
    flag_id: flagFields.id,
    flag_key: flagFields.key,
    change: ScheduledChange,
  },
)
export type HomeSchedule = Static<typeof HomeSchedule>

const HomeChange = NamedObject('HomeChange', 'A change of a flag; `by` is null for an automatic one.', {
  id: Integer('Id of the activity entry.', 41),
  activity: Text('What was done.', 'updated'),
  flag_id: Text('Id of the flag.', '12'),
  name: Text('Key of the flag.', 'new-checkout'),
  fields: List(Type.String(), 'Names of the changed fields.', ['active']),
  active: Nullable(Bool('Whether it was switched on or off; null for neither.', true)),
  by: Nullable(UserBasic),
  at: Instant('When it was done.'),
})
export type HomeChange = Static<typeof HomeChange>

const requests = (description: string) =>
  ObjectOf(description, {
    count: Integer('Number of requests.', 1),
    results: List(HomeRequest, `The newest, at most ${homeEntriesMax}.`),
  })

const ProjectHome = NamedObject(
  'ProjectHome',
  'What waits for the caller, what comes next and what happened in a project.',
  {
    flags: ObjectOf('The flags of the project; deleted and archived ones do not count.', {
      total: Integer('Number of flags.', 8),
      active: Integer('How many of them are switched on.', 5),
      stale: Integer('How many of them are stale.', 2),
    }),
    is_connected: Bool('Whether an application has called the project.'),
    waiting: requests('Change requests that the caller can decide about.'),
    conflicts: requests("The caller's change requests that conflict with a later change."),
    upcoming: ObjectOf('Ramps and other scheduled changes; paused ones are not listed.', {
      count: Integer('Number of pending scheduled changes.', 1),
      results: List(HomeSchedule, `The next ones, at most ${homeEntriesMax}.`),
    }),
    rolled_back: ObjectOf('Flags that a rollback condition has switched off.', {
      count: Integer('Number of flags.', 0),
      results: List(
        Type.Object({ ...flagFields, updated_at: Instant('When the flag was last changed.') }),
        `The last ones, at most ${homeEntriesMax}.`,
      ),
    }),
    changes: List(HomeChange, `The last changes of flags, at most ${homeChangesMax}.`),
    most_evaluated: List(
      Type.Object({
        ...flagFields,
        calls: List(
          Type.Integer(),
          `Evaluations per day (UTC) of the last ${flagUsageDays} days, oldest first; today is partial.`,
          [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 5, 2],
        ),
      }),
      `The flags evaluated most in these days, at most ${homeEntriesMax}.`,
    ),
  },
)
export type ProjectHome = Static<typeof ProjectHome>

const route = routesOf('Home')

export const homeRoutes = {
  get: route.get('/api/projects/:project_id/home', {
    operationId: 'getProjectHome',
    summary: 'Get what waits for you, what comes next and what happened in the project',
    description: 'Freezes, and what others decided about your requests, have routes of their own.',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    responses: { 200: ProjectHome },
  }),
}
