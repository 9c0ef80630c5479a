import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, pageQuery } from '../page.ts'
import { ProblemBody } from '../problem.ts'
import { inProject, routesOf } from '../route.ts'
import {
  descriptionCharactersMax,
  FreeObject,
  IdParam,
  Instant,
  Nullable,
  ProjectParams,
  TagsInput,
} from '../schema.ts'
import { Flag, FlagParams, FlagWrite } from './flags.ts'

/** The metric of a tile, per day. */
export const tileMetrics = ['calls', 'people', 'views', 'interactions'] as const
const TileMetric = Type.Union(
  tileMetrics.map(metric => Type.Literal(metric)),
  { description: 'Calls by variant, people by variant, views, or interactions.' },
)

const basic = {
  id: Type.Integer({ description: 'Unique id of the dashboard.', examples: [3] }),
  name: Type.String({ description: 'Name of the dashboard.', examples: ['Usage of new-checkout'] }),
  description: Type.String({ description: 'Description of the dashboard.', examples: ['Generated with the flag'] }),
  pinned: Type.Boolean({ description: 'Whether the dashboard is pinned in the list.', examples: [false] }),
  created_at: Instant('When the dashboard was created.'),
  created_by: UserBasic,
  is_shared: Type.Boolean({ description: 'Whether the dashboard is public. Always false.', examples: [false] }),
  deleted: Type.Boolean({ description: 'Whether the dashboard is soft-deleted.', examples: [false] }),
  creation_mode: Type.String({ description: 'Always `default`.', examples: ['default'] }),
  tags: Type.Array(Type.Unknown(), { description: 'Tags, usually strings.', examples: [[]] }),
  restriction_level: Type.Integer({ description: 'Always 21: every member of the project can edit.', examples: [21] }),
  effective_restriction_level: Type.Integer({ description: 'Same as `restriction_level`.', examples: [21] }),
  effective_privilege_level: Type.Integer({ description: 'Always 37: the caller can edit.', examples: [37] }),
  feature_flag: Nullable(Type.Integer({ description: 'The flag whose usage it shows.', examples: [12] })),
  is_enriched: Type.Boolean({ description: 'Shows views and interactions as well.', examples: [false] }),
}
export const DashboardBasic = Type.Object(basic, {
  title: 'DashboardSummary',
  description: 'A dashboard without its tiles.',
})
export type DashboardBasic = Static<typeof DashboardBasic>

export const DashboardTile = Type.Object(
  {
    id: Type.Integer({ description: 'Position of the tile, from 1.', examples: [1] }),
    insight: Type.Object(
      {
        name: Type.String({
          description: 'Title of the chart.',
          examples: ['Calls of new-checkout per day, by variant'],
        }),
        feature_flag: Type.Integer({ description: 'Id of the flag.', examples: [12] }),
        metric: Type.String({
          description: 'What is counted: `calls`, `people`, `views` or `interactions`.',
          examples: ['calls'],
        }),
        interval: Type.Literal('day', { description: 'Always `day`.' }),
        days: Type.Array(Type.String(), {
          description: 'The days of the series, in UTC.',
          examples: [['2026-03-01', '2026-03-02']],
        }),
        series: Type.Array(
          Type.Object({
            label: Type.String({
              description: 'The variant, `true`, `false`, or the name of the metric.',
              examples: ['true'],
            }),
            data: Type.Array(Type.Number(), { description: 'One value per day.', examples: [[120, 134]] }),
            total: Type.Number({ description: 'Total over the range; each person counts once.', examples: [254] }),
          }),
          { description: 'One line for each variant or metric.' },
        ),
      },
      { description: 'What the chart shows.' },
    ),
    text: Type.Null({ description: 'Always null.' }),
    layouts: FreeObject('Always empty.', {}),
    color: Type.Null({ description: 'Always null.' }),
    last_refresh: Instant(
      'Events recorded until then are counted; earlier than now while ClickHouse is behind or away.',
    ),
    is_cached: Type.Boolean({ description: 'Whether the data comes from a cache. Always false.', examples: [false] }),
  },
  { title: 'DashboardTile', description: 'A chart of a dashboard.' },
)
export type DashboardTile = Static<typeof DashboardTile>

export const Dashboard = Type.Object(
  {
    ...basic,
    filters: Type.Object(
      {
        date_from: Type.String({ description: 'First day.', examples: ['2026-03-01'] }),
        date_to: Type.String({ description: 'Last day.', examples: ['2026-03-02'] }),
      },
      { description: 'The range of days that is shown.' },
    ),
    tiles: Type.Array(DashboardTile, { description: 'Charts of the dashboard.' }),
  },
  { title: 'Dashboard', description: 'A dashboard with its tiles.' },
)
export type Dashboard = Static<typeof Dashboard>

export const dashboardTilesMax = 50

const writable = {
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 400, description: 'Name of the dashboard.', examples: ['Checkout'] }),
  ),
  description: Type.Optional(
    Type.String({
      maxLength: descriptionCharactersMax,
      description: 'Description of the dashboard.',
      examples: ['Everything about the checkout'],
    }),
  ),
  pinned: Type.Optional(Type.Boolean({ description: 'Whether the dashboard is pinned in the list.' })),
  deleted: Type.Optional(Type.Boolean({ description: '`true` soft-deletes the dashboard, `false` restores it.' })),
  tags: Type.Optional(TagsInput('Tags, usually strings; replaces the list.')),
  tiles: Type.Optional(
    Type.Array(
      Type.Object({
        feature_flag: Type.Integer({ description: 'Id of the flag.', examples: [12] }),
        metric: TileMetric,
      }),
      {
        maxItems: dashboardTilesMax,
        description: `Tiles in addition to the usage of its own flag, at most ${dashboardTilesMax}.`,
      },
    ),
  ),
}
export const DashboardWrite = Type.Object(writable, {
  title: 'DashboardWrite',
  description: 'Writable fields of a dashboard. Omitted fields do not change.',
  examples: [{ name: 'Checkout', tiles: [{ feature_flag: 12, metric: 'calls' }] }],
})
export type DashboardWrite = Static<typeof DashboardWrite>

const route = routesOf('Dashboards')
const dashboards = '/api/projects/:project_id/dashboards' as const
const flag = '/api/projects/:project_id/feature_flags/:id' as const
const DashboardParams = Type.Object({ ...ProjectParams.properties, id: IdParam('Dashboard id.') })
const rangeQuery = {
  date_from: Type.Optional(Type.String({ description: 'A day, or relative days or weeks: `-30d` (default), `-8w`.' })),
  date_to: Type.Optional(Type.String({ description: 'A day; today by default.' })),
}
const FlagWithDashboard = Type.Object(
  { ...Flag.properties, dashboard: Dashboard, success: Type.Literal(true, { description: 'Always true.' }) },
  { title: 'FeatureFlagWithDashboard', description: 'A flag with its usage dashboard.' },
)

export const dashboardRoutes = {
  list: route({
    method: 'GET',
    path: dashboards,
    operationId: 'listDashboards',
    summary: 'List the dashboards of the project, by name',
    description: 'Returns a page of dashboards without their tiles.',
    access: inProject('dashboard:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(Type.String({ description: 'Part of the name.' })),
    }),
    responses: { 200: Page(DashboardBasic) },
  }),
  create: route({
    method: 'POST',
    path: dashboards,
    operationId: 'createDashboard',
    summary: 'Create a dashboard',
    description: 'Creates a dashboard with tiles for any flags of the project.',
    access: inProject('dashboard:write'),
    params: ProjectParams,
    body: DashboardWrite,
    responses: { 201: Dashboard },
  }),
  get: route({
    method: 'GET',
    path: `${dashboards}/:id`,
    operationId: 'getDashboard',
    summary: 'Get a dashboard with its tiles and their series',
    description: 'Series have one value per day of the range, in UTC.',
    access: inProject('dashboard:read'),
    params: DashboardParams,
    query: Type.Object(rangeQuery),
    responses: { 200: Dashboard },
  }),
  update: route({
    method: 'PATCH',
    path: `${dashboards}/:id`,
    operationId: 'updateDashboard',
    summary: 'Change, delete (`deleted: true`) or restore a dashboard',
    description: 'Changes only the fields that the body contains; `tiles` is replaced as a whole.',
    access: inProject('dashboard:write'),
    params: DashboardParams,
    body: DashboardWrite,
    responses: { 200: Dashboard },
  }),
  remove: route({
    method: 'DELETE',
    path: `${dashboards}/:id`,
    operationId: 'deleteDashboard',
    summary: 'Not allowed: dashboards are deleted by PATCH with `deleted: true`',
    description: 'Always returns 405. Dashboards are soft-deleted, so that they can be restored.',
    access: inProject('dashboard:write'),
    params: DashboardParams,
    responses: { 405: ProblemBody },
  }),
  ofFlag: route({
    method: 'POST',
    path: `${flag}/dashboard`,
    operationId: 'createFeatureFlagDashboard',
    summary: 'Create the usage dashboard of the flag if it does not exist',
    description:
      'Every flag gets a usage dashboard when it is created. A new one replaces it if it was deleted. The body is ignored.',
    access: inProject('feature_flag:write'),
    params: FlagParams,
    body: FlagWrite,
    bodyOptional: true,
    responses: { 200: FlagWithDashboard },
  }),
  enrich: route({
    method: 'POST',
    path: `${flag}/enrich_usage_dashboard`,
    operationId: 'enrichFeatureFlagDashboard',
    summary: 'Add views and interactions to the usage dashboard of the flag',
    description:
      'Sets `has_enriched_analytics`. Views and interactions come from `$feature_view` and `$feature_interaction` events. The body is ignored.',
    access: inProject('feature_flag:write'),
    params: FlagParams,
    body: FlagWrite,
    bodyOptional: true,
    responses: { 200: FlagWithDashboard },
  }),
}
