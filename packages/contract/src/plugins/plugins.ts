import Type, { type Static, type TSchema } from 'typebox'
import { ActivityChange, activityAnswer, activityQuery } from '../flags/activity.ts'
import { Page, PageQuery } from '../page.ts'
import { inOrganization, routesOf } from '../route.ts'
import {
  Bool,
  descriptionCharactersMax,
  FreeObject,
  FreeObjectInput,
  IdParam,
  Integer,
  List,
  mebibyte,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  OrganizationParams,
  Text,
  TextInput,
  Uuid,
} from '../schema.ts'

const PluginType = Type.Union(
  [Type.Literal('local'), Type.Literal('custom'), Type.Literal('repository'), Type.Literal('source')],
  { title: 'PluginType', description: 'Where the code comes from.', examples: ['source'] },
)

/** Contract 2.5. */
export const Plugin = NamedObject('Plugin', 'A plugin of an organization.', {
  id: Integer('Unique id of the plugin.', 2),
  plugin_type: PluginType,
  name: Text('Name of the plugin.', 'Add a greeting'),
  description: Text('Description of the plugin.', 'Adds a greeting to every event'),
  url: Nullable(Text('Origin of the code.', null)),
  icon: Nullable(Text('URL of an icon.', null)),
  config_schema: FreeObject('Settings by their key.', {}),
  tag: Nullable(Text('The installed version.', null)),
  latest_tag: Nullable(Text('The newest version known.', null)),
  is_global: Bool('Whether other organizations can use the plugin.', false),
  organization_id: Uuid('Id of the organization that owns the plugin.'),
  organization_name: Text('Name of the organization that owns the plugin.', 'Acme'),
  capabilities: FreeObject('What the code offers: `methods`, `scheduled_tasks`, `jobs`.', {
    methods: ['processEvent'],
    scheduled_tasks: [],
    jobs: [],
  }),
  metrics: FreeObject('Calls, failures, time and memory.', {}),
  public_jobs: FreeObject('Jobs that people can start, by name.', {}),
})
export type Plugin = Static<typeof Plugin>

export const pluginNameCharactersMax = 200

/** Contract 2.5, the writable fields, in the order in which errors are reported. */
const writable = {
  plugin_type: Type.Optional(PluginType),
  name: Type.Optional(NonEmptyTextInput(pluginNameCharactersMax, 'Name of the plugin.', 'Add a greeting')),
  description: Type.Optional(
    TextInput(descriptionCharactersMax, 'Description of the plugin.', 'Adds a greeting to every event'),
  ),
  icon: Type.Optional(Nullable(TextInput(800, 'URL of an icon.'))),
  config_schema: Type.Optional(FreeObjectInput(mebibyte, 'Setting → type, title and default.')),
  tag: Type.Optional(Nullable(TextInput(200, 'Version of the code.'))),
  is_global: Type.Optional(Bool('Whether other organizations can use the plugin.')),
  capabilities: Type.Optional(FreeObjectInput(mebibyte, 'What the code offers; set when it is compiled.')),
  metrics: Type.Optional(FreeObjectInput(mebibyte, 'Free-form metrics.')),
  public_jobs: Type.Optional(FreeObjectInput(mebibyte, 'Jobs that users can start, by name.')),
}
export const PluginWrite = NamedObject(
  'PluginWrite',
  'Writable fields of a plugin. Omitted fields do not change.',
  writable,
  { name: 'Add a greeting', plugin_type: 'source' },
)
export type PluginWrite = Static<typeof PluginWrite>

export const CatalogEntry = NamedObject('PluginCatalogEntry', 'A plugin of the catalog.', {
  name: Text('Name of the plugin.', 'GeoIP'),
  url: Text('Address to install the plugin from.', 'https://www.npmjs.com/package/posthog-plugin-geoip'),
  description: Text('What the plugin does.', 'Adds the location to events'),
  verified: Bool('Tested with this version.', true),
  maintainer: Type.Union([Type.Literal('official'), Type.Literal('community')], {
    description: 'Who maintains the plugin.',
    examples: ['official'],
  }),
  type: Text('What the plugin does: `data_in`, `data_out`, `ingestion_filtering` or `flags`.', 'data_in'),
  displayOnWebsiteLib: Bool('Whether PostHog lists the plugin.', true),
  needs: Text('Prerequisites; empty if there are none.', ''),
})
export type CatalogEntry = Static<typeof CatalogEntry>

const PluginParams = Type.Object({ ...OrganizationParams.properties, id: IdParam('Plugin id.') })

const sourceAnswer = {
  source: Type.Record(Type.String(), Type.String(), {
    description: 'File name → text.',
    examples: [{ 'index.ts': 'export function processEvent(event: any) { return event }' }],
  }),
}
const updateAnswer = {
  plugin: Plugin,
  update_available: Nullable(Bool('Null if the origin is unreachable.', false)),
  warning: Type.Optional(Text('Why the check is incomplete.')),
}
const acceptanceAnswer = {
  release: Text('Identifies the plugin as its owner has it now.', '3f2a9c0d'),
  accepted_release: Nullable(Text('What this organization runs; null before it accepts one.', '3f2a9c0d')),
  update_available: Bool('The owner has changed the plugin since it was accepted.', false),
}
/** Of a plugin that belongs to another organization. */
const PluginInUse = NamedObject(
  'PluginInUse',
  'A plugin; with the accepted release if it belongs to another organization.',
  { ...Plugin.properties, ...Type.Partial(Type.Object(acceptanceAnswer)).properties },
)
const withPlugin = <P extends Record<string, TSchema>>(extra: P) => Type.Object({ ...Plugin.properties, ...extra })

const plugins = '/api/organizations/:parent_lookup_organization_id/plugins' as const

const organizationRoute = routesOf('Plugins', { params: OrganizationParams })
const pluginRoute = routesOf('Plugins', { params: PluginParams })

export const pluginRoutes = {
  list: organizationRoute.get(plugins, {
    operationId: 'listPlugins',
    summary: 'List the plugins available to the organization',
    description: 'Returns a page of own plugins and of those that other organizations share.',
    access: inOrganization('plugin:read'),
    query: PageQuery,
    responses: { 200: Page(PluginInUse) },
  }),
  create: organizationRoute.post(plugins, {
    operationId: 'createPlugin',
    summary: 'Register a plugin; nothing is fetched (admin)',
    description: 'Requires the admin level. Use `installPlugin` to fetch code, or `updatePluginSource` to write it.',
    access: inOrganization('plugin:write'),
    body: PluginWrite,
    bodyOptional: true,
    responses: { 201: Plugin },
  }),
  install: organizationRoute.post(`${plugins}/install`, {
    operationId: 'installPlugin',
    summary:
      'Install a plugin from npm, GitHub or GitLab, all or nothing; streams progress with `Accept: application/x-ndjson` (admin)',
    description:
      'Requires the admin level. The package is downloaded, checked and compiled; nothing is stored if a step fails.',
    access: inOrganization('plugin:write'),
    body: Type.Object({
      url: NonEmptyTextInput(800, 'May carry `?private_token=`.', 'https://www.npmjs.com/package/posthog-plugin-geoip'),
      plugin_type: Type.Optional(PluginType),
      is_global: Type.Optional(Bool('Whether other organizations can use the plugin.')),
    }),
    responses: { 201: Plugin },
  }),
  activity: organizationRoute.get(`${plugins}/activity`, {
    operationId: 'listPluginActivity',
    summary: 'List the activity of all plugins of the organization, newest first',
    description:
      'Returns who changed which plugin and when. The fields of a plugin are blank; the entries are in `results`.',
    access: inOrganization('activity_log:read', 'plugin:read'),
    query: Type.Object({
      ...activityQuery,
      plugin: Type.Optional(Integer('Only activity of the plugin with this id.')),
    }),
    responses: { 200: withPlugin(activityAnswer) },
  }),
  repository: organizationRoute.get(`${plugins}/repository`, {
    operationId: 'listPluginCatalog',
    summary: 'List the plugin catalog',
    description: 'The fields of a plugin are blank; the entries are in `results`.',
    access: inOrganization('plugin:read'),
    responses: { 200: withPlugin({ results: List(CatalogEntry, 'Entries of the catalog.') }) },
  }),
  unused: organizationRoute.get(`${plugins}/unused`, {
    operationId: 'listUnusedPlugins',
    summary: "List the ids of the organization's plugins that are not enabled in any project",
    description: 'The fields of a plugin are blank; the ids are in `results`.',
    access: inOrganization('plugin:read'),
    responses: {
      200: withPlugin({
        results: List(Type.Integer(), 'Ids of unused plugins.', [2]),
      }),
    },
  }),
  get: pluginRoute.get(`${plugins}/:id`, {
    operationId: 'getPlugin',
    summary: 'Get a plugin',
    description: 'Returns an own plugin or one that another organization shares.',
    access: inOrganization('plugin:read'),
    responses: { 200: PluginInUse },
  }),
  update: pluginRoute.patch(`${plugins}/:id`, {
    operationId: 'updatePlugin',
    summary: 'Change the metadata of a plugin (admin)',
    description: 'Requires the admin level. Changes only the fields that the body contains; the code does not change.',
    access: inOrganization('plugin:write'),
    body: PluginWrite,
    responses: { 200: Plugin },
  }),
  remove: pluginRoute.delete(`${plugins}/:id`, {
    operationId: 'deletePlugin',
    summary: 'Uninstall a plugin with its source and its configurations (admin)',
    description: 'Requires the admin level. Stored data of the plugin is deleted as well.',
    access: inOrganization('plugin:write'),
    responses: { 204: null },
  }),
  checkForUpdates: pluginRoute.get(`${plugins}/:id/check_for_updates`, {
    operationId: 'checkPluginForUpdates',
    summary: 'Check the origin of the plugin for a newer version',
    description: 'Queries the registry. `update_available` is null and `warning` is set if it is unreachable.',
    access: inOrganization('plugin:read'),
    responses: { 200: withPlugin(updateAnswer) },
  }),
  source: pluginRoute.get(`${plugins}/:id/source`, {
    operationId: 'getPluginSource',
    summary: 'Get the source files of a plugin',
    description: 'Returns the text of every file in `source`.',
    access: inOrganization('plugin:read'),
    responses: { 200: withPlugin(sourceAnswer) },
  }),
  updateSource: pluginRoute.patch(`${plugins}/:id/update_source`, {
    operationId: 'updatePluginSource',
    summary: 'Write source files (file name → text, or null to delete) and compile them (admin)',
    description:
      'Requires the admin level. Additional fields of the body are files. TypeScript is compiled; a syntax error returns 400 with file, line and column.',
    access: inOrganization('plugin:write'),
    body: PluginWrite,
    bodyOptional: true,
    mayConflict: true,
    responses: { 200: withPlugin(sourceAnswer) },
  }),
  previewUpgrade: pluginRoute.get(`${plugins}/:id/preview_upgrade`, {
    operationId: 'previewPluginUpgrade',
    summary: 'Preview the changes of installing the newest version, or the version `tag`; stores nothing (admin)',
    description: 'Requires the admin level. Downloads the version and compares it with the installed one.',
    access: inOrganization('plugin:write'),
    query: Type.Object({ tag: Type.Optional(Text('The newest version by default.')) }),
    responses: {
      200: Type.Object({
        from: Nullable(Text('The installed version.', '1.0.0')),
        to: Nullable(Text('The version that would be installed.', '1.1.0')),
        changes: List(ActivityChange, 'Field by field and file by file.'),
      }),
    },
  }),
  releaseChanges: pluginRoute.get(`${plugins}/:id/release_changes`, {
    operationId: 'getPluginReleaseChanges',
    summary: "Compare another organization's plugin as it is now with the release that this organization accepted",
    description: 'Review the changes, then accept them with `acceptPluginRelease`.',
    access: inOrganization('plugin:read'),
    responses: {
      200: Type.Object({
        release: acceptanceAnswer.release,
        accepted_release: acceptanceAnswer.accepted_release,
        changes: List(ActivityChange, 'Field by field and file by file.'),
        source_known: Bool(
          'False when the files of the accepted release were not stored; `changes` then has no files.',
          true,
        ),
      }),
    },
  }),
  accept: pluginRoute.post(`${plugins}/:id/accept`, {
    operationId: 'acceptPluginRelease',
    summary: "Let this organization's projects run another organization's plugin as it is now (admin)",
    description:
      'Requires the admin level. The projects of this organization run the accepted release until another one is accepted.',
    access: inOrganization('plugin:write'),
    body: Type.Object({
      release: Type.Optional(TextInput(100, 'The `release` that was reviewed.', '3f2a9c0d')),
    }),
    bodyOptional: true,
    mayConflict: true,
    responses: { 200: withPlugin(acceptanceAnswer) },
  }),
  upgrade: pluginRoute.post(`${plugins}/:id/upgrade`, {
    operationId: 'upgradePlugin',
    summary:
      'Install the newest version, or the version `tag`; streams progress with `Accept: application/x-ndjson` (admin)',
    description: 'Requires the admin level. Configurations are retained. Nothing changes if a step fails.',
    access: inOrganization('plugin:write'),
    body: PluginWrite,
    bodyOptional: true,
    responses: { 200: withPlugin(updateAnswer) },
  }),
}
