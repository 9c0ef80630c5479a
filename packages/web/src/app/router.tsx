import { viewOnlyLevel } from '@halyard/contract/levels'
import { Box, Stack } from '@mantine/core'
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { readRequestFilter } from '../change-control/requests/request-filter.ts'
import { readFlagTab } from '../flags/flag-tabs.ts'
import { readActivitySearch } from '../flags/history/activity-search.ts'
import { listOf, readFlagSearch } from '../flags/list/flag-search.ts'
import { readTimeSearch } from '../flags/timeline/time-window.ts'
import { prefetchFlags } from '../flags/use-flags.ts'
import { homeQuery } from '../home/home-query.ts'
import { readPluginListTab, readPluginTab } from '../plugins/plugin-tabs.ts'
import type { Services } from '../services/services.ts'
import { meQuery, organizationsQuery, prefetchSession } from '../services/session-queries.ts'
import { goToSignIn } from '../session/sign-in-path.ts'
import { OrganizationSettings, ProjectSettings } from '../shell/settings-layout.tsx'
import { Shell } from '../shell/shell.tsx'
import { NotFound } from '../ui/feedback/not-found.tsx'
import { Loading, ProblemAlert } from '../ui/feedback/problems.tsx'

interface RouterContext extends Services {
  readonly queries: QueryClient
}

const root = createRootRouteWithContext<RouterContext>()({ component: Outlet, notFoundComponent: NotFoundOutsideShell })

/** A user who is signed in already has no use for it; anyone else never gets here. */
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/login',
  beforeLoad: () => {
    throw redirect({ to: '/', replace: true })
  },
})
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/signup/$token',
  component: lazyRouteComponent(() => import('../session/sign-up-page.tsx'), 'SignUpPage'),
})

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  beforeLoad: ({ context }) => {
    if (context.session.current()) return prefetchSession(context.queries, context.call)
    // An expired session is continued over the page that is open; only a page that was never open is replaced.
    if (context.session.endedBecause() === 'expired' && context.queries.getQueryData(['me'])) return
    goToSignIn({ isReturning: true })
    // Nothing is rendered until the other page is loaded.
    return new Promise<void>(() => {})
  },
  component: Shell,
})
const start = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad: async ({ context: { queries, call } }) => {
    const me = await queries.ensureQueryData(meQuery(call))
    const project = (me.team as { id?: number } | null)?.id
    if (project !== undefined) {
      throw redirect({ to: '/project/$projectId', params: { projectId: String(project) }, replace: true })
    }
  },
})

const project = createRoute({ getParentRoute: () => shell, path: '/project/$projectId' })
const home = createRoute({
  getParentRoute: () => project,
  path: '/',
  loader: ({ context: { queries, call }, params: { projectId } }) => {
    // Not awaited: the page shows that it is loading.
    queries.prefetchQuery(homeQuery(call, projectId))
  },
  component: lazyRouteComponent(() => import('../home/home-page.tsx'), 'HomePage'),
})
const flags = createRoute({
  getParentRoute: () => project,
  path: '/flags',
  validateSearch: readFlagSearch,
  loaderDeps: ({ search }) => ({ kind: listOf(search) }),
  loader: ({ context: { queries, call }, params: { projectId }, deps: { kind } }) => {
    // Not awaited: the page shows that it is loading.
    prefetchFlags(queries, call, projectId, kind)
  },
  component: lazyRouteComponent(() => import('../flags/list/flags-page.tsx'), 'FlagsPage'),
})

const newFlag = createRoute({
  getParentRoute: () => project,
  path: '/flags/new',
  component: lazyRouteComponent(() => import('../flags/page/new-flag-page.tsx'), 'NewFlagPage'),
})
const flag = createRoute({
  getParentRoute: () => project,
  path: '/flags/$flagId',
  validateSearch: readFlagTab,
  component: lazyRouteComponent(() => import('../flags/page/flag-page.tsx'), 'FlagPage'),
})

const activity = createRoute({
  getParentRoute: () => project,
  path: '/activity',
  validateSearch: readActivitySearch,
  component: lazyRouteComponent(() => import('../flags/history/activity-page.tsx'), 'ActivityPage'),
})
const changes = createRoute({
  getParentRoute: () => project,
  path: '/changes',
  validateSearch: readTimeSearch,
  component: lazyRouteComponent(() => import('../flags/timeline/changes-page.tsx'), 'ChangesPage'),
})
const explain = createRoute({
  getParentRoute: () => project,
  path: '/debugger',
  validateSearch: (search): { id?: string; groups?: string } => ({
    ...(search.id !== undefined && { id: String(search.id) }),
    ...(search.groups !== undefined && { groups: textOf(search.groups) }),
  }),
  component: lazyRouteComponent(() => import('../flags/explain/explain-page.tsx'), 'ExplainPage'),
})
const persons = createRoute({
  getParentRoute: () => project,
  path: '/persons',
  component: lazyRouteComponent(() => import('../persons/persons-page.tsx'), 'PersonsPage'),
})
const person = createRoute({
  getParentRoute: () => project,
  path: '/persons/$personId',
  component: lazyRouteComponent(() => import('../persons/person-page.tsx'), 'PersonPage'),
})
const groups = createRoute({
  getParentRoute: () => project,
  path: '/groups',
  component: lazyRouteComponent(() => import('../persons/groups-page.tsx'), 'GroupsPage'),
})
const cohorts = createRoute({
  getParentRoute: () => project,
  path: '/cohorts',
  component: lazyRouteComponent(() => import('../cohorts/cohorts-page.tsx'), 'CohortsPage'),
})
const cohort = createRoute({
  getParentRoute: () => project,
  path: '/cohorts/$cohortId',
  component: lazyRouteComponent(() => import('../cohorts/cohort-page.tsx'), 'CohortPage'),
})
const health = createRoute({
  getParentRoute: () => project,
  path: '/health',
  component: lazyRouteComponent(() => import('../health/health-page.tsx'), 'HealthPage'),
})
const dependencies = createRoute({
  getParentRoute: () => project,
  path: '/dependencies',
  component: lazyRouteComponent(() => import('../flags/dependencies/dependencies-page.tsx'), 'DependenciesPage'),
})
const playground = createRoute({
  getParentRoute: () => project,
  path: '/playground',
  component: lazyRouteComponent(() => import('../playground/playground-page.tsx'), 'PlaygroundPage'),
})
const tags = createRoute({
  getParentRoute: () => project,
  path: '/tags',
  component: lazyRouteComponent(() => import('../tags/tags-page.tsx'), 'TagsPage'),
})
const setup = createRoute({
  getParentRoute: () => project,
  path: '/setup',
  component: lazyRouteComponent(() => import('../setup/setup-page.tsx'), 'SetupPage'),
})
const importCertificate = createRoute({
  getParentRoute: () => project,
  path: '/import/certificates/$certificateId',
  component: lazyRouteComponent(() => import('../imports/certificate-page.tsx'), 'CertificatePage'),
})
const settings = createRoute({ getParentRoute: () => project, path: '/settings', component: ProjectSettings })
const generalSettings = createRoute({
  getParentRoute: () => settings,
  path: '/',
  component: lazyRouteComponent(() => import('../projects/general-page.tsx'), 'GeneralPage'),
})
const keySettings = createRoute({
  getParentRoute: () => settings,
  path: '/keys',
  component: lazyRouteComponent(() => import('../projects/keys-page.tsx'), 'KeysPage'),
})
const policies = createRoute({
  getParentRoute: () => settings,
  path: '/policies',
  component: lazyRouteComponent(() => import('../change-control/policies/policies-page.tsx'), 'PoliciesPage'),
})
const webhooks = createRoute({
  getParentRoute: () => settings,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('../webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})
const importFlags = createRoute({
  getParentRoute: () => settings,
  path: '/import',
  component: lazyRouteComponent(() => import('../imports/import-page.tsx'), 'ImportPage'),
})
/** Its address before settings had tabs. */
const movedImport = createRoute({
  getParentRoute: () => project,
  path: '/import',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/project/$projectId/settings/import', params, replace: true })
  },
})
const requests = createRoute({
  getParentRoute: () => project,
  path: '/requests',
  validateSearch: readRequestFilter,
  component: lazyRouteComponent(() => import('../change-control/requests/requests-page.tsx'), 'RequestsPage'),
})
const changeRequest = createRoute({
  getParentRoute: () => project,
  path: '/requests/$requestId',
  component: lazyRouteComponent(() => import('../change-control/requests/request-page.tsx'), 'RequestPage'),
})
const organization = createRoute({ getParentRoute: () => shell, path: '/organization/$organizationId' })
const organizationSettings = createRoute({
  getParentRoute: () => organization,
  path: '/settings',
  component: OrganizationSettings,
})
const organizationStart = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/',
  beforeLoad: async ({ context: { queries, call }, params }) => {
    const organizations = await queries.ensureQueryData(organizationsQuery(call))
    const level = organizations.find(({ id }) => id === params.organizationId)?.membership_level ?? 0
    const to = level < viewOnlyLevel ? 'audit' : 'members'
    throw redirect({ to: `/organization/$organizationId/settings/${to}`, params, replace: true })
  },
})
const members = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/members',
  component: lazyRouteComponent(() => import('../organizations/members-page.tsx'), 'MembersPage'),
})
const roles = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/roles',
  component: lazyRouteComponent(() => import('../organizations/roles-page.tsx'), 'RolesPage'),
})
const organizationSignIn = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/sign-in',
  component: lazyRouteComponent(
    () => import('../organizations/single-sign-on/organization-sign-in-page.tsx'),
    'OrganizationSignInPage',
  ),
})
const provisioning = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/provisioning',
  component: lazyRouteComponent(
    () => import('../organizations/provisioning/provisioning-page.tsx'),
    'ProvisioningPage',
  ),
})
const serviceKeys = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/service-keys',
  component: lazyRouteComponent(() => import('../organizations/service-keys/service-keys-page.tsx'), 'ServiceKeysPage'),
})
const trustRelationships = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/trust-relationships',
  component: lazyRouteComponent(() => import('../organizations/trust/trust-page.tsx'), 'TrustPage'),
})
const audit = createRoute({
  getParentRoute: () => organizationSettings,
  path: '/audit',
  component: lazyRouteComponent(() => import('../audit/audit-page.tsx'), 'AuditPage'),
})
/** Their addresses before settings had tabs. */
const movedToSettings = (['members', 'roles', 'audit'] as const).map(page =>
  createRoute({
    getParentRoute: () => organization,
    path: `/${page}`,
    beforeLoad: ({ params }) => {
      throw redirect({ to: `/organization/$organizationId/settings/${page}`, params, replace: true })
    },
  }),
)
const environments = createRoute({
  getParentRoute: () => organization,
  path: '/environments',
  component: lazyRouteComponent(
    () => import('../change-control/environments/environments-page.tsx'),
    'EnvironmentsPage',
  ),
})
const environmentSet = createRoute({
  getParentRoute: () => organization,
  path: '/environments/$setId',
  component: lazyRouteComponent(() => import('../change-control/environments/compare-page.tsx'), 'ComparePage'),
})
const freezes = createRoute({
  getParentRoute: () => organization,
  path: '/freezes',
  component: lazyRouteComponent(() => import('../change-control/freezes/freezes-page.tsx'), 'FreezesPage'),
})
const plugins = createRoute({
  getParentRoute: () => organization,
  path: '/plugins',
  validateSearch: readPluginListTab,
  component: lazyRouteComponent(() => import('../plugins/list/plugins-page.tsx'), 'PluginsPage'),
})
const plugin = createRoute({
  getParentRoute: () => organization,
  path: '/plugins/$pluginId',
  validateSearch: readPluginTab,
  component: lazyRouteComponent(() => import('../plugins/detail/plugin-page.tsx'), 'PluginPage'),
})
/** Unknown addresses keep the navigation around them. */
const unknown = createRoute({ getParentRoute: () => shell, path: '$', component: NotFound })
const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  component: lazyRouteComponent(() => import('../account/account-page.tsx'), 'AccountPage'),
})

const tree = root.addChildren([
  signIn,
  signUp,
  shell.addChildren([
    start,
    account,
    unknown,
    project.addChildren([
      home,
      flags,
      newFlag,
      flag,
      activity,
      changes,
      explain,
      persons,
      person,
      groups,
      cohorts,
      cohort,
      health,
      dependencies,
      playground,
      tags,
      setup,
      importCertificate,
      movedImport,
      settings.addChildren([generalSettings, keySettings, policies, webhooks, importFlags]),
      requests,
      changeRequest,
    ]),
    organization.addChildren([
      organizationSettings.addChildren([
        organizationStart,
        members,
        roles,
        organizationSignIn,
        provisioning,
        serviceKeys,
        trustRelationships,
        audit,
      ]),
      ...movedToSettings,
      environments,
      environmentSet,
      freezes,
      plugins,
      plugin,
    ]),
  ]),
])

/** The router parses JSON in search parameters. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

export function createAppRouter(context: RouterContext) {
  return createRouter({
    routeTree: tree,
    context,
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultPendingComponent: Loading,
    defaultErrorComponent: ({ error, reset }) => (
      <Stack p="xl">
        <ProblemAlert error={error} onRetry={reset} />
      </Stack>
    ),
    defaultNotFoundComponent: NotFoundOutsideShell,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}

/** Outside the shell there is no main landmark, so this adds one. */
function NotFoundOutsideShell() {
  return (
    <Box component="main">
      <NotFound />
    </Box>
  )
}
