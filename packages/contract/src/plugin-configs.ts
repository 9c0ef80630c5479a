import Type, { type Static } from 'typebox'
import { Page, PageQuery } from './page.ts'
import { Plugin } from './plugins.ts'
import { inProject, route } from './route.ts'
import {
  bytesMaxKeyword,
  FreeObject,
  FreeObjectInput,
  IdParam,
  Instant,
  kibibyte,
  mebibyte,
  Nullable,
  ProjectParams,
} from './schema.ts'

/** The configuration of a plugin in a project. */
export const PluginConfig = Type.Object({
  id: Type.Integer(),
  plugin: Type.Integer({ description: 'Plugin id.' }),
  enabled: Type.Boolean(),
  order: Type.Integer({ description: 'Position in the event processing chain.' }),
  config: FreeObject('Values by setting; secrets are masked, attachments described.'),
  error: Nullable(FreeObject('Why it was switched off.')),
  team_id: Type.Integer({ description: 'Project id.' }),
  plugin_info: Nullable(Plugin),
  delivery_rate_24h: Nullable(Type.Number({ description: 'Success rate of calls, 0 to 1.' })),
  created_at: Instant(),
  updated_at: Instant(),
  name: Nullable(Type.String()),
  description: Nullable(Type.String()),
  deleted: Type.Boolean(),
  allowed_hosts: Type.Array(Type.String(), { description: 'Hosts that the plugin can call, granted by an admin.' }),
  update_available: Type.Boolean({
    description: 'The owner of the plugin has changed it; it runs as it was accepted until the change is accepted.',
  }),
})
export type PluginConfig = Static<typeof PluginConfig>

const Attachment = Type.Object({
  file_name: Type.String({ minLength: 1, maxLength: 200 }),
  content_type: Type.Optional(Type.String({ maxLength: 200 })),
  contents_base64: Type.String({ maxLength: 2 * mebibyte }),
})

const writable = {
  enabled: Type.Optional(Type.Boolean()),
  order: Type.Optional(Type.Integer()),
  config: Type.Optional(FreeObjectInput(2 * mebibyte)),
  name: Type.Optional(Nullable(Type.String({ maxLength: 400 }))),
  description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  deleted: Type.Optional(Type.Boolean()),
  allowed_hosts: Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 1000 })),
  attachments: Type.Optional(Type.Record(Type.String(), Nullable(Attachment), { [bytesMaxKeyword]: 16 * mebibyte })),
}
export const PluginConfigWrite = Type.Object(writable)
export type PluginConfigWrite = Static<typeof PluginConfigWrite>

export const PluginLogEntry = Type.Object({
  id: Type.Integer(),
  team_id: Type.Integer(),
  plugin_id: Type.Integer(),
  plugin_config_id: Type.Integer(),
  timestamp: Instant(),
  source: Type.Union([Type.Literal('SYSTEM'), Type.Literal('PLUGIN'), Type.Literal('CONSOLE')]),
  type: Type.Union([
    Type.Literal('DEBUG'),
    Type.Literal('LOG'),
    Type.Literal('INFO'),
    Type.Literal('WARN'),
    Type.Literal('ERROR'),
  ]),
  message: Type.String(),
  instance_id: Type.String({ description: 'The node that ran the plugin.' }),
})
export type PluginLogEntry = Static<typeof PluginLogEntry>

export const PluginMetrics = Type.Object({
  calls: Type.Integer(),
  failures: Type.Integer(),
  dropped_events: Type.Integer(),
  cpu_seconds: Type.Number(),
  memory_bytes: Type.Integer(),
})
export type PluginMetrics = Static<typeof PluginMetrics>

const HourlyMetrics = Type.Object({ hour: Instant(), ...PluginMetrics.properties })

export const PluginJob = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  kind: Type.Union([Type.Literal('job'), Type.Literal('flag_change')], {
    description: '`flag_change`: a flag change that is still to be delivered to the plugin.',
  }),
  state: Type.Union([Type.Literal('waiting'), Type.Literal('running')]),
  run_at: Instant('When it is due; for one that failed, when it is tried again.'),
  attempts: Type.Integer(),
  created_at: Instant(),
})
export type PluginJob = Static<typeof PluginJob>

const ConfigParams = Type.Object({ ...ProjectParams.properties, id: IdParam() })
const tag = 'Plugin configurations'
const configs = '/api/projects/:project_id/plugin_configs' as const

export const pluginConfigRoutes = {
  list: route({
    method: 'GET',
    path: configs,
    tag,
    summary: 'List the plugin configurations of the project, in order',
    access: inProject('plugin:read'),
    params: ProjectParams,
    query: PageQuery,
    answers: { 200: Page(PluginConfig) },
  }),
  create: route({
    method: 'POST',
    path: configs,
    tag,
    summary: 'Configure a plugin; updates an existing configuration (admin)',
    access: inProject('plugin:write'),
    params: ProjectParams,
    body: Type.Object({ plugin: Type.Integer(), ...writable }),
    answers: { 201: PluginConfig },
  }),
  rearrange: route({
    method: 'PATCH',
    path: `${configs}/rearrange`,
    tag,
    summary: 'Reorder plugins (admin)',
    access: inProject('plugin:write'),
    params: ProjectParams,
    body: Type.Object({
      orders: Type.Record(Type.String(), Type.Integer(), {
        description: 'Plugin id → position.',
        [bytesMaxKeyword]: 256 * kibibyte,
      }),
    }),
    answers: { 200: Type.Array(PluginConfig) },
  }),
  get: route({
    method: 'GET',
    path: `${configs}/:id`,
    tag,
    summary: 'Get a configuration',
    access: inProject('plugin:read'),
    params: ConfigParams,
    answers: { 200: PluginConfig },
  }),
  update: route({
    method: 'PATCH',
    path: `${configs}/:id`,
    tag,
    summary: 'Change a configuration; omitted secrets are unchanged (admin)',
    access: inProject('plugin:write'),
    params: ConfigParams,
    body: PluginConfigWrite,
    answers: { 200: PluginConfig },
  }),
  remove: route({
    method: 'DELETE',
    path: `${configs}/:id`,
    tag,
    summary: 'Disable a plugin; its configuration is retained (admin)',
    access: inProject('plugin:write'),
    params: ConfigParams,
    answers: { 204: null },
  }),
  job: route({
    method: 'POST',
    path: `${configs}/:id/job`,
    tag,
    summary: 'Start a public job of the plugin (admin)',
    access: inProject('plugin:write'),
    params: ConfigParams,
    body: Type.Object({
      job: Type.Object({
        type: Type.String({ minLength: 1, maxLength: 200 }),
        payload: Type.Optional(FreeObjectInput(mebibyte)),
      }),
    }),
    answers: { 200: null },
  }),
  jobs: route({
    method: 'GET',
    path: `${configs}/:id/jobs`,
    tag,
    summary: 'List the pending jobs of the plugin, next one first',
    access: inProject('plugin:read'),
    params: ConfigParams,
    query: PageQuery,
    answers: { 200: Page(PluginJob) },
  }),
  logs: route({
    method: 'GET',
    path: `${configs}/:id/logs`,
    tag,
    summary: 'List the log entries of the plugin, newest first',
    access: inProject('plugin:read'),
    params: ConfigParams,
    query: Type.Object({
      ...PageQuery.properties,
      before: Type.Optional(Type.String({ description: 'Only entries before this instant.' })),
      after: Type.Optional(Type.String({ description: 'Only entries after this instant.' })),
      search: Type.Optional(Type.String({ description: 'Part of the message.' })),
      type_filter: Type.Optional(Type.String({ description: 'DEBUG, LOG, INFO, WARN or ERROR; comma-separated.' })),
    }),
    answers: { 200: Page(PluginLogEntry) },
  }),
  metrics: route({
    method: 'GET',
    path: `${configs}/:id/metrics`,
    tag,
    summary: 'Get the metrics of the plugin of the last 24 hours',
    access: inProject('plugin:read'),
    params: ConfigParams,
    answers: {
      200: Type.Object({
        ...PluginMetrics.properties,
        hours: Type.Array(HourlyMetrics, { description: 'By hour; hours without calls are omitted.' }),
      }),
    },
  }),
}
