import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, pageQuery } from '../page.ts'
import { ProblemBody } from '../problem.ts'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  descriptionCharactersMax,
  FreeObject,
  IdParam,
  Instant,
  Integer,
  List,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  Numeric,
  ObjectOf,
  ProjectParams,
  TagsInput,
  Text,
  TextInput,
} from '../schema.ts'
import { Flag, FlagParams, FlagWrite } from './flags.ts'

/** The metric of a tile, per day. */
export const tileMetrics = ['calls', 'people', 'views', 'interactions'] as const
const TileMetric = Type.Union(
  tileMetrics.map(metric => Type.Literal(metric)),
  { description: 'Calls by variant, people by variant, views, or interactions.' },
)

const basic = {
  id: Integer('Unique id of the dashboard.', 3),
  name: Text('Name of the dashboard.', 'Usage of new-checkout'),
  description: Text('Description of the dashboard.', 'Generated with the flag'),
  pinned: Bool('Whether the dashboard is pinned in the list.', false),
  created_at: Instant('When the dashboard was created.'),
  created_by: UserBasic,
  is_shared: Bool('Whether the dashboard is public. Always false.', false),
  deleted: Bool('Whether the dashboard is soft-deleted.', false),
  creation_mode: Text('Always `default`.', 'default'),
  tags: List(Type.Unknown(), 'Tags, usually strings.', []),
  restriction_level: Integer('Always 21: every member of the project can edit.', 21),
  effective_restriction_level: Integer('Same as `restriction_level`.', 21),
  effective_privilege_level: Integer('Always 37: the caller can edit.', 37),
  feature_flag: Nullable(Integer('The flag whose usage it shows.', 12)),
  is_enriched: Bool('Shows views and interactions as well.', false),
}
export const DashboardBasic = NamedObject('DashboardSummary', 'A dashboard without its tiles.', basic)
export type DashboardBasic = Static<typeof DashboardBasic>

export const DashboardTile = NamedObject('DashboardTile', 'A chart of a dashboard.', {
  id: Integer('Position of the tile, from 1.', 1),
  insight: ObjectOf('What the chart shows.', {
    name: Text('Title of the chart.', 'Calls of new-checkout per day, by variant'),
    feature_flag: Integer('Id of the flag.', 12),
    metric: Text('What is counted: `calls`, `people`, `views` or `interactions`.', 'calls'),
    interval: Type.Literal('day', { description: 'Always `day`.' }),
    days: List(Type.String(), 'The days of the series, in UTC.', ['2026-03-01', '2026-03-02']),
    series: List(
      Type.Object({
        label: Text('The variant, `true`, `false`, or the name of the metric.', 'true'),
        data: List(Type.Number(), 'One value per day.', [120, 134]),
        total: Numeric('Total over the range; each person counts once.', 254),
      }),
      'One line for each variant or metric.',
    ),
  }),
  text: Type.Null({ description: 'Always null.' }),
  layouts: FreeObject('Always empty.', {}),
  color: Type.Null({ description: 'Always null.' }),
  last_refresh: Instant('Events recorded until then are counted; earlier than now while ClickHouse is behind or away.'),
  is_cached: Bool('Whether the data comes from a cache. Always false.', false),
})
export type DashboardTile = Static<typeof DashboardTile>

export const Dashboard = NamedObject('Dashboard', 'A dashboard with its tiles.', {
  ...basic,
  filters: ObjectOf('The range of days that is shown.', {
    date_from: Text('First day.', '2026-03-01'),
    date_to: Text('Last day.', '2026-03-02'),
  }),
  tiles: List(DashboardTile, 'Charts of the dashboard.'),
})
export type Dashboard = Static<typeof Dashboard>

export const dashboardTilesMax = 50

const writable = {
  name: Type.Optional(NonEmptyTextInput(400, 'Name of the dashboard.', 'Checkout')),
  description: Type.Optional(
    TextInput(descriptionCharactersMax, 'Description of the dashboard.', 'Everything about the checkout'),
  ),
  pinned: Type.Optional(Bool('Whether the dashboard is pinned in the list.')),
  deleted: Type.Optional(Bool('`true` soft-deletes the dashboard, `false` restores it.')),
  tags: Type.Optional(TagsInput('Tags, usually strings; replaces the list.')),
  tiles: Type.Optional(
    Type.Array(
      Type.Object({
        feature_flag: Integer('Id of the flag.', 12),
        metric: TileMetric,
      }),
      {
        maxItems: dashboardTilesMax,
        description: `Tiles in addition to the usage of its own flag, at most ${dashboardTilesMax}.`,
      },
    ),
  ),
}
export const DashboardWrite = NamedObject(
  'DashboardWrite',
  'Writable fields of a dashboard. Omitted fields do not change.',
  writable,
  { name: 'Checkout', tiles: [{ feature_flag: 12, metric: 'calls' }] },
)
export type DashboardWrite = Static<typeof DashboardWrite>

const dashboards = '/api/projects/:project_id/dashboards' as const
const flag = '/api/projects/:project_id/feature_flags/:id' as const
const DashboardParams = Type.Object({ ...ProjectParams.properties, id: IdParam('Dashboard id.') })
const rangeQuery = {
  date_from: Type.Optional(Text('A day, or relative days or weeks: `-30d` (default), `-8w`.')),
  date_to: Type.Optional(Text('A day; today by default.')),
}
const FlagWithDashboard = NamedObject('FeatureFlagWithDashboard', 'A flag with its usage dashboard.', {
  ...Flag.properties,
  dashboard: Dashboard,
  success: Type.Literal(true, { description: 'Always true.' }),
})

const projectRoute = routesOf('Dashboards', { params: ProjectParams })
const dashboardRoute = routesOf('Dashboards', { params: DashboardParams })
const flagRoute = routesOf('Dashboards', { params: FlagParams })

export const dashboardRoutes = {
  list: projectRoute.get(dashboards, {
    operationId: 'listDashboards',
    summary: 'List the dashboards of the project, by name',
    description: 'Returns a page of dashboards without their tiles.',
    access: inProject('dashboard:read'),
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(Text('Part of the name.')),
    }),
    responses: { 200: Page(DashboardBasic) },
  }),
  create: projectRoute.post(dashboards, {
    operationId: 'createDashboard',
    summary: 'Create a dashboard',
    description: 'Creates a dashboard with tiles for any flags of the project.',
    access: inProject('dashboard:write'),
    body: DashboardWrite,
    responses: { 201: Dashboard },
  }),
  get: dashboardRoute.get(`${dashboards}/:id`, {
    operationId: 'getDashboard',
    summary: 'Get a dashboard with its tiles and their series',
    description: 'Series have one value per day of the range, in UTC.',
    access: inProject('dashboard:read'),
    query: Type.Object(rangeQuery),
    responses: { 200: Dashboard },
  }),
  update: dashboardRoute.patch(`${dashboards}/:id`, {
    operationId: 'updateDashboard',
    summary: 'Change, delete (`deleted: true`) or restore a dashboard',
    description: 'Changes only the fields that the body contains; `tiles` is replaced as a whole.',
    access: inProject('dashboard:write'),
    body: DashboardWrite,
    responses: { 200: Dashboard },
  }),
  remove: dashboardRoute.delete(`${dashboards}/:id`, {
    operationId: 'deleteDashboard',
    summary: 'Not allowed: dashboards are deleted by PATCH with `deleted: true`',
    description: 'Always returns 405. Dashboards are soft-deleted, so that they can be restored.',
    access: inProject('dashboard:write'),
    responses: { 405: ProblemBody },
  }),
  ofFlag: flagRoute.post(`${flag}/dashboard`, {
    operationId: 'createFeatureFlagDashboard',
    summary: 'Create the usage dashboard of the flag if it does not exist',
    description:
      'Every flag gets a usage dashboard when it is created. A new one replaces it if it was deleted. The body is ignored.',
    access: inProject('feature_flag:write'),
    body: FlagWrite,
    bodyOptional: true,
    responses: { 200: FlagWithDashboard },
  }),
  enrich: flagRoute.post(`${flag}/enrich_usage_dashboard`, {
    operationId: 'enrichFeatureFlagDashboard',
    summary: 'Add views and interactions to the usage dashboard of the flag',
    description:
      'Sets `has_enriched_analytics`. Views and interactions come from `$feature_view` and `$feature_interaction` events. The body is ignored.',
    access: inProject('feature_flag:write'),
    body: FlagWrite,
    bodyOptional: true,
    responses: { 200: FlagWithDashboard },
  }),
}
