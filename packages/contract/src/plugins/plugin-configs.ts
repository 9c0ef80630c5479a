import Type, { type Static } from 'typebox'
import { Page, PageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  bytesMaxKeyword,
  FreeObject,
  FreeObjectInput,
  IdParam,
  Instant,
  Integer,
  kibibyte,
  List,
  mebibyte,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  Numeric,
  ObjectOf,
  ProjectParams,
  Text,
  TextInput,
} from '../schema.ts'
import { Plugin } from './plugins.ts'

/** The configuration of a plugin in a project. */
export const PluginConfig = NamedObject('PluginConfig', 'The configuration of a plugin in a project.', {
  id: Integer('Unique id of the configuration.', 4),
  plugin: Integer('Plugin id.', 2),
  enabled: Bool('Whether the plugin runs in this project.', true),
  order: Integer('Position in the event processing chain.', 1),
  config: FreeObject('Values by setting; secrets are masked, attachments described.', { greeting: 'hello' }),
  error: Nullable(FreeObject('Why it was switched off.', null)),
  team_id: Integer('Project id.', 1),
  plugin_info: Nullable(Plugin),
  delivery_rate_24h: Nullable(Numeric('Success rate of calls, 0 to 1.', 1)),
  created_at: Instant('When the configuration was created.'),
  updated_at: Instant('When the configuration was last changed.'),
  name: Nullable(Text('Name of the configuration.', null)),
  description: Nullable(Text('Description of the configuration.', null)),
  deleted: Bool('Whether the configuration is deleted.', false),
  allowed_hosts: List(Type.String(), 'Hosts that the plugin can call, granted by an admin.', []),
  update_available: Bool(
    'The owner of the plugin has changed it; it runs as it was accepted until the change is accepted.',
    false,
  ),
})
export type PluginConfig = Static<typeof PluginConfig>

const Attachment = NamedObject('PluginAttachment', 'A file that a plugin setting needs.', {
  file_name: NonEmptyTextInput(200, 'Name of the file.', 'locations.mmdb'),
  content_type: Type.Optional(TextInput(200, 'Media type of the file.', 'application/octet-stream')),
  contents_base64: TextInput(2 * mebibyte, 'Content in Base64.', 'aGVsbG8='),
})

const writable = {
  enabled: Type.Optional(Bool('Whether the plugin runs in this project.', true)),
  order: Type.Optional(Integer('Position in the event processing chain.', 1)),
  config: Type.Optional(
    FreeObjectInput(2 * mebibyte, 'Setting → value. Omitted secrets do not change.', { greeting: 'hello' }),
  ),
  name: Type.Optional(Nullable(TextInput(400, 'Name of the configuration.'))),
  description: Type.Optional(Nullable(TextInput(1000, 'Description of the configuration.'))),
  deleted: Type.Optional(Bool('`true` deletes the configuration.')),
  allowed_hosts: Type.Optional(
    Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: 1000,
      description: 'Hosts that the plugin can call; replaces the list.',
    }),
  ),
  attachments: Type.Optional(
    Type.Record(Type.String(), Nullable(Attachment), {
      [bytesMaxKeyword]: 16 * mebibyte,
      description: 'Setting → file, or null to delete the file.',
    }),
  ),
}
export const PluginConfigWrite = NamedObject(
  'PluginConfigWrite',
  'Writable fields of a plugin configuration. Omitted fields do not change.',
  writable,
  { enabled: true, config: { greeting: 'hello' } },
)
export type PluginConfigWrite = Static<typeof PluginConfigWrite>

export const PluginLogEntry = NamedObject('PluginLogEntry', 'A log entry of a plugin.', {
  id: Integer('Unique id of the entry.', 90),
  team_id: Integer('Project id.', 1),
  plugin_id: Integer('Plugin id.', 2),
  plugin_config_id: Integer('Id of the configuration.', 4),
  timestamp: Instant('When the entry was written.'),
  source: Type.Union([Type.Literal('SYSTEM'), Type.Literal('PLUGIN'), Type.Literal('CONSOLE')], {
    description: '`PLUGIN` and `CONSOLE` come from the code, `SYSTEM` from Halyard.',
    examples: ['CONSOLE'],
  }),
  type: Type.Union(
    [Type.Literal('DEBUG'), Type.Literal('LOG'), Type.Literal('INFO'), Type.Literal('WARN'), Type.Literal('ERROR')],
    { description: 'Severity of the entry.', examples: ['INFO'] },
  ),
  message: Text('Text of the entry.', 'Greeted 12 persons'),
  instance_id: Text('The node that ran the plugin.', 'node-1'),
})
export type PluginLogEntry = Static<typeof PluginLogEntry>

export const PluginMetrics = NamedObject('PluginMetrics', 'Resource use of a plugin.', {
  calls: Integer('Number of calls.', 120),
  failures: Integer('Number of failed calls.', 1),
  dropped_events: Integer('Number of events that the plugin dropped.', 0),
  cpu_seconds: Numeric('CPU time in seconds.', 0.4),
  memory_bytes: Integer('Largest memory use in bytes.', 1048576),
})
export type PluginMetrics = Static<typeof PluginMetrics>

const HourlyMetrics = NamedObject('PluginHourlyMetrics', 'Resource use of a plugin in one hour.', {
  hour: Instant('Start of the hour.'),
  ...PluginMetrics.properties,
})

export const PluginJob = NamedObject('PluginJob', 'A pending job of a plugin.', {
  id: Integer('Unique id of the job.', 8),
  name: Text('Name of the job.', 'sendGreetings'),
  kind: Type.Union([Type.Literal('job'), Type.Literal('flag_change')], {
    description: '`flag_change`: a flag change that is still to be delivered to the plugin.',
    examples: ['job'],
  }),
  state: Type.Union([Type.Literal('waiting'), Type.Literal('running')], {
    description: 'Whether the job is waiting or running.',
    examples: ['waiting'],
  }),
  run_at: Instant('When it is due; for one that failed, when it is tried again.'),
  attempts: Integer('Number of failed attempts.', 0),
  created_at: Instant('When the job was queued.'),
})
export type PluginJob = Static<typeof PluginJob>

const ConfigParams = Type.Object({ ...ProjectParams.properties, id: IdParam('Id of the configuration.') })
const configs = '/api/projects/:project_id/plugin_configs' as const

const projectRoute = routesOf('Plugin configurations', { params: ProjectParams })
const configRoute = routesOf('Plugin configurations', { params: ConfigParams })

export const pluginConfigRoutes = {
  list: projectRoute.get(configs, {
    operationId: 'listPluginConfigs',
    summary: 'List the plugin configurations of the project, in order',
    description: 'Events pass through the enabled plugins in this order. Secrets are masked.',
    access: inProject('plugin:read'),
    query: PageQuery,
    responses: { 200: Page(PluginConfig) },
  }),
  create: projectRoute.post(configs, {
    operationId: 'createPluginConfig',
    summary: 'Configure a plugin; updates an existing configuration (admin)',
    description: 'Requires the admin level. A plugin has one configuration per project: sending it again updates it.',
    access: inProject('plugin:write'),
    body: Type.Object({ plugin: Integer('Plugin id.', 2), ...writable }),
    responses: { 201: PluginConfig },
  }),
  rearrange: projectRoute.patch(`${configs}/rearrange`, {
    operationId: 'rearrangePluginConfigs',
    summary: 'Reorder plugins (admin)',
    description: 'Requires the admin level. Returns all configurations in the new order.',
    access: inProject('plugin:write'),
    body: Type.Object({
      orders: Type.Record(Type.String(), Type.Integer(), {
        description: 'Plugin id → position.',
        [bytesMaxKeyword]: 256 * kibibyte,
        examples: [{ '2': 1, '3': 2 }],
      }),
    }),
    responses: { 200: Type.Array(PluginConfig) },
  }),
  get: configRoute.get(`${configs}/:id`, {
    operationId: 'getPluginConfig',
    summary: 'Get a configuration',
    description: 'Secrets are masked; attachments are described by name and size.',
    access: inProject('plugin:read'),
    responses: { 200: PluginConfig },
  }),
  update: configRoute.patch(`${configs}/:id`, {
    operationId: 'updatePluginConfig',
    summary: 'Change a configuration; omitted secrets are unchanged (admin)',
    description:
      'Requires the admin level. Changes only the fields that the body contains. Values are checked against the settings of the plugin.',
    access: inProject('plugin:write'),
    body: PluginConfigWrite,
    responses: { 200: PluginConfig },
  }),
  remove: configRoute.delete(`${configs}/:id`, {
    operationId: 'deletePluginConfig',
    summary: 'Disable a plugin; its configuration is retained (admin)',
    description: 'Requires the admin level. The plugin stops; the configuration can be enabled again.',
    access: inProject('plugin:write'),
    responses: { 204: null },
  }),
  job: configRoute.post(`${configs}/:id/job`, {
    operationId: 'startPluginJob',
    summary: 'Start a public job of the plugin (admin)',
    description: 'Requires the admin level. The job runs in the background; failures are retried.',
    access: inProject('plugin:write'),
    body: Type.Object({
      job: ObjectOf('The job to start.', {
        type: NonEmptyTextInput(200, 'Name of the job.', 'sendGreetings'),
        payload: Type.Optional(FreeObjectInput(mebibyte, 'Parameters of the job.', { limit: 10 })),
      }),
    }),
    responses: { 200: null },
  }),
  jobs: configRoute.get(`${configs}/:id/jobs`, {
    operationId: 'listPluginJobs',
    summary: 'List the pending jobs of the plugin, next one first',
    description: 'Returns a page of waiting and running jobs.',
    access: inProject('plugin:read'),
    query: PageQuery,
    responses: { 200: Page(PluginJob) },
  }),
  logs: configRoute.get(`${configs}/:id/logs`, {
    operationId: 'listPluginLogs',
    summary: 'List the log entries of the plugin, newest first',
    description: 'Entries are retained for a limited time and number.',
    access: inProject('plugin:read'),
    query: Type.Object({
      ...PageQuery.properties,
      before: Type.Optional(Text('Only entries before this instant.')),
      after: Type.Optional(Text('Only entries after this instant.')),
      search: Type.Optional(Text('Part of the message.')),
      type_filter: Type.Optional(Text('DEBUG, LOG, INFO, WARN or ERROR; comma-separated.')),
    }),
    responses: { 200: Page(PluginLogEntry) },
  }),
  metrics: configRoute.get(`${configs}/:id/metrics`, {
    operationId: 'getPluginMetrics',
    summary: 'Get the metrics of the plugin of the last 24 hours',
    description: 'Totals of the last 24 hours, and the same by hour.',
    access: inProject('plugin:read'),
    responses: {
      200: Type.Object({
        ...PluginMetrics.properties,
        hours: List(HourlyMetrics, 'By hour; hours without calls are omitted.'),
      }),
    },
  }),
}
