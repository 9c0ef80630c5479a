import Type, { type Static } from 'typebox'
import { Flag, FlagParams, FlagWrite } from './flags.ts'
import { Page, pageQuery } from './page.ts'
import { inProject, route } from './route.ts'
import { descriptionCharactersMax, FreeObject, IdParam, Instant, Nullable, ProjectParams, TagsInput } from './schema.ts'
import { UserBasic } from './users.ts'

/** The metric of a tile, per day. */
export const tileMetrics = ['calls', 'people', 'views', 'interactions'] as const
const TileMetric = Type.Union(
  tileMetrics.map(metric => Type.Literal(metric)),
  { description: 'Calls by variant, people by variant, views, or interactions.' },
)

const basic = {
  id: Type.Integer(),
  name: Type.String(),
  description: Type.String(),
  pinned: Type.Boolean(),
  created_at: Instant(),
  created_by: UserBasic,
  is_shared: Type.Boolean(),
  deleted: Type.Boolean(),
  creation_mode: Type.String(),
  tags: Type.Array(Type.Unknown()),
  restriction_level: Type.Integer(),
  effective_restriction_level: Type.Integer(),
  effective_privilege_level: Type.Integer(),
  feature_flag: Nullable(Type.Integer({ description: 'The flag whose usage it shows.' })),
  is_enriched: Type.Boolean({ description: 'Shows views and interactions as well.' }),
}
export const DashboardBasic = Type.Object(basic)
export type DashboardBasic = Static<typeof DashboardBasic>

export const DashboardTile = Type.Object({
  id: Type.Integer(),
  insight: Type.Object({
    name: Type.String(),
    feature_flag: Type.Integer(),
    metric: Type.String(),
    interval: Type.Literal('day'),
    days: Type.Array(Type.String(), { description: 'The days of the series, in UTC.' }),
    series: Type.Array(
      Type.Object({
        label: Type.String({ description: 'The variant, `true`, `false`, or the name of the metric.' }),
        data: Type.Array(Type.Number(), { description: 'One value per day.' }),
        total: Type.Number({ description: 'Total over the range; each person counts once.' }),
      }),
    ),
  }),
  text: Type.Null(),
  layouts: FreeObject(),
  color: Type.Null(),
  last_refresh: Instant(),
  is_cached: Type.Boolean(),
})
export type DashboardTile = Static<typeof DashboardTile>

export const Dashboard = Type.Object({
  ...basic,
  filters: Type.Object({ date_from: Type.String(), date_to: Type.String() }),
  tiles: Type.Array(DashboardTile),
})
export type Dashboard = Static<typeof Dashboard>

export const dashboardTilesMax = 50

const writable = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 400 })),
  description: Type.Optional(Type.String({ maxLength: descriptionCharactersMax })),
  pinned: Type.Optional(Type.Boolean()),
  deleted: Type.Optional(Type.Boolean()),
  tags: Type.Optional(TagsInput()),
  tiles: Type.Optional(
    Type.Array(Type.Object({ feature_flag: Type.Integer(), metric: TileMetric }), {
      maxItems: dashboardTilesMax,
      description: `Tiles in addition to the usage of its own flag, at most ${dashboardTilesMax}.`,
    }),
  ),
}
export const DashboardWrite = Type.Object(writable)
export type DashboardWrite = Static<typeof DashboardWrite>

const tag = 'Dashboards'
const dashboards = '/api/projects/:project_id/dashboards' as const
const flag = '/api/projects/:project_id/feature_flags/:id' as const
const DashboardParams = Type.Object({ ...ProjectParams.properties, id: IdParam() })
const rangeQuery = {
  date_from: Type.Optional(Type.String({ description: 'A day, or relative days or weeks: `-30d` (default), `-8w`.' })),
  date_to: Type.Optional(Type.String({ description: 'A day; today by default.' })),
}
const FlagWithDashboard = Type.Object({ ...Flag.properties, dashboard: Dashboard, success: Type.Literal(true) })

export const dashboardRoutes = {
  list: route({
    method: 'GET',
    path: dashboards,
    tag,
    summary: 'List the dashboards of the project, by name',
    access: inProject('dashboard:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(Type.String({ description: 'Part of the name.' })),
    }),
    answers: { 200: Page(DashboardBasic) },
  }),
  create: route({
    method: 'POST',
    path: dashboards,
    tag,
    summary: 'Create a dashboard',
    access: inProject('dashboard:write'),
    params: ProjectParams,
    body: DashboardWrite,
    answers: { 201: Dashboard },
  }),
  get: route({
    method: 'GET',
    path: `${dashboards}/:id`,
    tag,
    summary: 'Get a dashboard with its tiles and their series',
    access: inProject('dashboard:read'),
    params: DashboardParams,
    query: Type.Object(rangeQuery),
    answers: { 200: Dashboard },
  }),
  update: route({
    method: 'PATCH',
    path: `${dashboards}/:id`,
    tag,
    summary: 'Change, delete (`deleted: true`) or restore a dashboard',
    access: inProject('dashboard:write'),
    params: DashboardParams,
    body: DashboardWrite,
    answers: { 200: Dashboard },
  }),
  remove: route({
    method: 'DELETE',
    path: `${dashboards}/:id`,
    tag,
    summary: 'Not allowed: dashboards are deleted by PATCH with `deleted: true`',
    access: inProject('dashboard:write'),
    params: Type.Object({ ...ProjectParams.properties, id: Type.String() }),
    answers: { 405: null },
  }),
  ofFlag: route({
    method: 'POST',
    path: `${flag}/dashboard`,
    tag,
    summary: 'Create the usage dashboard of the flag if it does not exist',
    access: inProject('feature_flag:write'),
    params: FlagParams,
    body: FlagWrite,
    bodyOptional: true,
    answers: { 200: FlagWithDashboard },
  }),
  enrich: route({
    method: 'POST',
    path: `${flag}/enrich_usage_dashboard`,
    tag,
    summary: 'Add views and interactions to the usage dashboard of the flag',
    access: inProject('feature_flag:write'),
    params: FlagParams,
    body: FlagWrite,
    bodyOptional: true,
    answers: { 200: FlagWithDashboard },
  }),
}
