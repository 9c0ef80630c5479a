import type { QueryClient } from '@tanstack/react-query'
import type { Change } from '../live/change-stream.ts'

/** Which queries a change may affect, by the first part of their keys; flags and cohorts are updated one by one. */
const kindsOf: Readonly<Record<string, readonly string[]>> = {
  flag: ['flag-copies', 'environment-flags', 'change-request', 'flag-dependencies'],
  cohort: ['flag-dependencies'],
  project: ['environment-sets', 'projects', 'organizations', 'secret-keys', 'group-types'],
  identity: [
    'me',
    'projects',
    'organizations',
    'members',
    'invites',
    'roles',
    'role-members',
    'api-keys',
    'scim-tokens',
    'effective-access',
    'service-keys',
    'trust-relationships',
    'single-sign-on',
    'identity-providers',
  ],
  access: ['invites', 'roles', 'role-members', 'role-access', 'effective-access'],
  schedule: ['home', 'schedules', 'flag-history', 'activity'],
  change_request: [
    'change-requests',
    'change-request',
    'inbox',
    'home',
    'approval-policies',
    'freezes',
    'gate',
    'flag-history',
    'activity',
  ],
  plugin: ['plugins', 'plugin-configs', 'plugin-jobs'],
  sdk: ['home', 'connected-sdks'],
}
/** Not repeated after a lost connection, and frequent: they refresh only what is about the same object. */
const ephemeralKindsOf: Readonly<Record<string, readonly string[]>> = {
  cohort_progress: ['cohort'],
  cohort_count: ['cohort', 'cohorts'],
  plugin_log: ['plugin-logs'],
  plugin_job: ['plugin-jobs'],
  presence: ['presence'],
}
const ephemeralKinds = new Set(Object.values(ephemeralKindsOf).flat())
const allKinds = new Set([...Object.values(kindsOf).flat(), ...ephemeralKinds])

/** A kind, or the kind, project and id of one object. A list is about its whole project. */
function staleAfter({ topic, project, id }: Change): readonly string[] {
  const kinds = ephemeralKindsOf[topic]
  return kinds
    ? kinds.map(kind => (kind === 'cohorts' ? `${kind}/${project}` : `${kind}/${project}/${id}`))
    : (kindsOf[topic] ?? [])
}

/** Batches a burst of changes into one refresh. */
const gatherMilliseconds = 50

/** Invalidates the visible queries that a change may affect. */
export function createQueryRefresher(queries: QueryClient) {
  const stale = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function run(): void {
    timer = undefined
    const keys = new Set(stale)
    stale.clear()
    queries.invalidateQueries({
      predicate: ({ queryKey }) => keys.has(String(queryKey[0])) || keys.has(queryKey.slice(0, 3).join('/')),
    })
  }
  const now = () => {
    if (stale.size > 0 && !document.hidden) timer ??= setTimeout(run, gatherMilliseconds)
  }
  return {
    /** The stream resumes: only ephemeral changes may have been missed. */
    resumed() {
      for (const kind of ephemeralKinds) stale.add(kind)
      now()
    },
    /** Without a change: everything is invalidated. */
    soon(change: Change | undefined) {
      for (const key of change ? staleAfter(change) : allKinds) stale.add(key)
      now()
    },
    now,
    stop: () => clearTimeout(timer),
  }
}
