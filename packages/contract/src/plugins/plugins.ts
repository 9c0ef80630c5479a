import Type, { type Static, type TSchema } from 'typebox'
import { ActivityChange, activityAnswer, activityQuery } from '../flags/activity.ts'
import { Page, PageQuery } from '../page.ts'
import { inOrganization, routesOf } from '../route.ts'
import {
  descriptionCharactersMax,
  FreeObject,
  FreeObjectInput,
  IdParam,
  mebibyte,
  Nullable,
  OrganizationParams,
  Uuid,
} from '../schema.ts'

const PluginType = Type.Union(
  [Type.Literal('local'), Type.Literal('custom'), Type.Literal('repository'), Type.Literal('source')],
  { title: 'PluginType', description: 'Where the code comes from.', examples: ['source'] },
)

/** Contract 2.5. */
export const Plugin = Type.Object(
  {
    id: Type.Integer({ description: 'Unique id of the plugin.', examples: [2] }),
    plugin_type: PluginType,
    name: Type.String({ description: 'Name of the plugin.', examples: ['Add a greeting'] }),
    description: Type.String({
      description: 'Description of the plugin.',
      examples: ['Adds a greeting to every event'],
    }),
    url: Nullable(Type.String({ description: 'Origin of the code.', examples: [null] })),
    icon: Nullable(Type.String({ description: 'URL of an icon.', examples: [null] })),
    config_schema: FreeObject('Settings by their key.', {}),
    tag: Nullable(Type.String({ description: 'The installed version.', examples: [null] })),
    latest_tag: Nullable(Type.String({ description: 'The newest version known.', examples: [null] })),
    is_global: Type.Boolean({ description: 'Whether other organizations can use the plugin.', examples: [false] }),
    organization_id: Uuid('Id of the organization that owns the plugin.'),
    organization_name: Type.String({
      description: 'Name of the organization that owns the plugin.',
      examples: ['Acme'],
    }),
    capabilities: FreeObject('What the code offers: `methods`, `scheduled_tasks`, `jobs`.', {
      methods: ['processEvent'],
      scheduled_tasks: [],
      jobs: [],
    }),
    metrics: FreeObject('Calls, failures, time and memory.', {}),
    public_jobs: FreeObject('Jobs that people can start, by name.', {}),
  },
  { title: 'Plugin', description: 'A plugin of an organization.' },
)
export type Plugin = Static<typeof Plugin>

export const pluginNameCharactersMax = 200

/** Contract 2.5, the writable fields, in the order in which errors are reported. */
const writable = {
  plugin_type: Type.Optional(PluginType),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: pluginNameCharactersMax,
      description: 'Name of the plugin.',
      examples: ['Add a greeting'],
    }),
  ),
  description: Type.Optional(
    Type.String({
      maxLength: descriptionCharactersMax,
      description: 'Description of the plugin.',
      examples: ['Adds a greeting to every event'],
    }),
  ),
  icon: Type.Optional(Nullable(Type.String({ maxLength: 800, description: 'URL of an icon.' }))),
  config_schema: Type.Optional(FreeObjectInput(mebibyte, 'Setting → type, title and default.')),
  tag: Type.Optional(Nullable(Type.String({ maxLength: 200, description: 'Version of the code.' }))),
  is_global: Type.Optional(Type.Boolean({ description: 'Whether other organizations can use the plugin.' })),
  capabilities: Type.Optional(FreeObjectInput(mebibyte, 'What the code offers; set when it is compiled.')),
  metrics: Type.Optional(FreeObjectInput(mebibyte, 'Free-form metrics.')),
  public_jobs: Type.Optional(FreeObjectInput(mebibyte, 'Jobs that users can start, by name.')),
}
export const PluginWrite = Type.Object(writable, {
  title: 'PluginWrite',
  description: 'Writable fields of a plugin. Omitted fields do not change.',
  examples: [{ name: 'Add a greeting', plugin_type: 'source' }],
})
export type PluginWrite = Static<typeof PluginWrite>

export const CatalogEntry = Type.Object(
  {
    name: Type.String({ description: 'Name of the plugin.', examples: ['GeoIP'] }),
    url: Type.String({
      description: 'Address to install the plugin from.',
      examples: ['https://www.npmjs.com/package/posthog-plugin-geoip'],
    }),
    description: Type.String({ description: 'What the plugin does.', examples: ['Adds the location to events'] }),
    verified: Type.Boolean({ description: 'Tested with this version.', examples: [true] }),
    maintainer: Type.Union([Type.Literal('official'), Type.Literal('community')], {
      description: 'Who maintains the plugin.',
      examples: ['official'],
    }),
    type: Type.String({
      description: 'What the plugin does: `data_in`, `data_out`, `ingestion_filtering` or `flags`.',
      examples: ['data_in'],
    }),
    displayOnWebsiteLib: Type.Boolean({ description: 'Whether PostHog lists the plugin.', examples: [true] }),
    needs: Type.String({ description: 'Prerequisites; empty if there are none.', examples: [''] }),
  },
  { title: 'PluginCatalogEntry', description: 'A plugin of the catalog.' },
)
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
  update_available: Nullable(Type.Boolean({ description: 'Null if the origin is unreachable.', examples: [false] })),
  warning: Type.Optional(Type.String({ description: 'Why the check is incomplete.' })),
}
const acceptanceAnswer = {
  release: Type.String({ description: 'Identifies the plugin as its owner has it now.', examples: ['3f2a9c0d'] }),
  accepted_release: Nullable(
    Type.String({ description: 'What this organization runs; null before it accepts one.', examples: ['3f2a9c0d'] }),
  ),
  update_available: Type.Boolean({
    description: 'The owner has changed the plugin since it was accepted.',
    examples: [false],
  }),
}
/** Of a plugin that belongs to another organization. */
const PluginInUse = Type.Object(
  { ...Plugin.properties, ...Type.Partial(Type.Object(acceptanceAnswer)).properties },
  {
    title: 'PluginInUse',
    description: 'A plugin; with the accepted release if it belongs to another organization.',
  },
)
const withPlugin = <P extends Record<string, TSchema>>(extra: P) => Type.Object({ ...Plugin.properties, ...extra })

const route = routesOf('Plugins')
const plugins = '/api/organizations/:parent_lookup_organization_id/plugins' as const

export const pluginRoutes = {
  list: route({
    method: 'GET',
    path: plugins,
    operationId: 'listPlugins',
    summary: 'List the plugins available to the organization',
    description: 'Returns a page of own plugins and of those that other organizations share.',
    access: inOrganization('plugin:read'),
    params: OrganizationParams,
    query: PageQuery,
    responses: { 200: Page(PluginInUse) },
  }),
  create: route({
    method: 'POST',
    path: plugins,
    operationId: 'createPlugin',
    summary: 'Register a plugin; nothing is fetched (admin)',
    description: 'Requires the admin level. Use `installPlugin` to fetch code, or `updatePluginSource` to write it.',
    access: inOrganization('plugin:write'),
    params: OrganizationParams,
    body: PluginWrite,
    bodyOptional: true,
    responses: { 201: Plugin },
  }),
  install: route({
    method: 'POST',
    path: `${plugins}/install`,
    operationId: 'installPlugin',
    summary:
      'Install a plugin from npm, GitHub or GitLab, all or nothing; streams progress with `Accept: application/x-ndjson` (admin)',
    description:
      'Requires the admin level. The package is downloaded, checked and compiled; nothing is stored if a step fails.',
    access: inOrganization('plugin:write'),
    params: OrganizationParams,
    body: Type.Object({
      url: Type.String({
        minLength: 1,
        maxLength: 800,
        description: 'May carry `?private_token=`.',
        examples: ['https://www.npmjs.com/package/posthog-plugin-geoip'],
      }),
      plugin_type: Type.Optional(PluginType),
      is_global: Type.Optional(Type.Boolean({ description: 'Whether other organizations can use the plugin.' })),
    }),
    responses: { 201: Plugin },
  }),
  activity: route({
    method: 'GET',
    path: `${plugins}/activity`,
    operationId: 'listPluginActivity',
    summary: 'List the activity of all plugins of the organization, newest first',
    description:
      'Returns who changed which plugin and when. The fields of a plugin are blank; the entries are in `results`.',
    access: inOrganization('activity_log:read', 'plugin:read'),
    params: OrganizationParams,
    query: Type.Object({
      ...activityQuery,
      plugin: Type.Optional(Type.Integer({ description: 'Only activity of the plugin with this id.' })),
    }),
    responses: { 200: withPlugin(activityAnswer) },
  }),
  repository: route({
    method: 'GET',
    path: `${plugins}/repository`,
    operationId: 'listPluginCatalog',
    summary: 'List the plugin catalog',
    description: 'The fields of a plugin are blank; the entries are in `results`.',
    access: inOrganization('plugin:read'),
    params: OrganizationParams,
    responses: { 200: withPlugin({ results: Type.Array(CatalogEntry, { description: 'Entries of the catalog.' }) }) },
  }),
  unused: route({
    method: 'GET',
    path: `${plugins}/unused`,
    operationId: 'listUnusedPlugins',
    summary: "List the ids of the organization's plugins that are not enabled in any project",
    description: 'The fields of a plugin are blank; the ids are in `results`.',
    access: inOrganization('plugin:read'),
    params: OrganizationParams,
    responses: {
      200: withPlugin({
        results: Type.Array(Type.Integer(), { description: 'Ids of unused plugins.', examples: [[2]] }),
      }),
    },
  }),
  get: route({
    method: 'GET',
    path: `${plugins}/:id`,
    operationId: 'getPlugin',
    summary: 'Get a plugin',
    description: 'Returns an own plugin or one that another organization shares.',
    access: inOrganization('plugin:read'),
    params: PluginParams,
    responses: { 200: PluginInUse },
  }),
  update: route({
    method: 'PATCH',
    path: `${plugins}/:id`,
    operationId: 'updatePlugin',
    summary: 'Change the metadata of a plugin (admin)',
    description: 'Requires the admin level. Changes only the fields that the body contains; the code does not change.',
    access: inOrganization('plugin:write'),
    params: PluginParams,
    body: PluginWrite,
    responses: { 200: Plugin },
  }),
  remove: route({
    method: 'DELETE',
    path: `${plugins}/:id`,
    operationId: 'deletePlugin',
    summary: 'Uninstall a plugin with its source and its configurations (admin)',
    description: 'Requires the admin level. Stored data of the plugin is deleted as well.',
    access: inOrganization('plugin:write'),
    params: PluginParams,
    responses: { 204: null },
  }),
  checkForUpdates: route({
    method: 'GET',
    path: `${plugins}/:id/check_for_updates`,
    operationId: 'checkPluginForUpdates',
    summary: 'Check the origin of the plugin for a newer version',
    description: 'Queries the registry. `update_available` is null and `warning` is set if it is unreachable.',
    access: inOrganization('plugin:read'),
    params: PluginParams,
    responses: { 200: withPlugin(updateAnswer) },
  }),
  source: route({
    method: 'GET',
    path: `${plugins}/:id/source`,
    operationId: 'getPluginSource',
    summary: 'Get the source files of a plugin',
    description: 'Returns the text of every file in `source`.',
    access: inOrganization('plugin:read'),
    params: PluginParams,
    responses: { 200: withPlugin(sourceAnswer) },
  }),
  updateSource: route({
    method: 'PATCH',
    path: `${plugins}/:id/update_source`,
    operationId: 'updatePluginSource',
    summary: 'Write source files (file name → text, or null to delete) and compile them (admin)',
    description:
      'Requires the admin level. Additional fields of the body are files. TypeScript is compiled; a syntax error returns 400 with file, line and column.',
    access: inOrganization('plugin:write'),
    params: PluginParams,
    body: PluginWrite,
    bodyOptional: true,
    mayConflict: true,
    responses: { 200: withPlugin(sourceAnswer) },
  }),
  previewUpgrade: route({
    method: 'GET',
    path: `${plugins}/:id/preview_upgrade`,
    operationId: 'previewPluginUpgrade',
    summary: 'Preview the changes of installing the newest version, or the version `tag`; stores nothing (admin)',
    description: 'Requires the admin level. Downloads the version and compares it with the installed one.',
    access: inOrganization('plugin:write'),
    params: PluginParams,
    query: Type.Object({ tag: Type.Optional(Type.String({ description: 'The newest version by default.' })) }),
    responses: {
      200: Type.Object({
        from: Nullable(Type.String({ description: 'The installed version.', examples: ['1.0.0'] })),
        to: Nullable(Type.String({ description: 'The version that would be installed.', examples: ['1.1.0'] })),
        changes: Type.Array(ActivityChange, { description: 'Field by field and file by file.' }),
      }),
    },
  }),
  releaseChanges: route({
    method: 'GET',
    path: `${plugins}/:id/release_changes`,
    operationId: 'getPluginReleaseChanges',
    summary: "Compare another organization's plugin as it is now with the release that this organization accepted",
    description: 'Review the changes, then accept them with `acceptPluginRelease`.',
    access: inOrganization('plugin:read'),
    params: PluginParams,
    responses: {
      200: Type.Object({
        release: acceptanceAnswer.release,
        accepted_release: acceptanceAnswer.accepted_release,
        changes: Type.Array(ActivityChange, { description: 'Field by field and file by file.' }),
        source_known: Type.Boolean({
          description: 'False when the files of the accepted release were not stored; `changes` then has no files.',
          examples: [true],
        }),
      }),
    },
  }),
  accept: route({
    method: 'POST',
    path: `${plugins}/:id/accept`,
    operationId: 'acceptPluginRelease',
    summary: "Let this organization's projects run another organization's plugin as it is now (admin)",
    description:
      'Requires the admin level. The projects of this organization run the accepted release until another one is accepted.',
    access: inOrganization('plugin:write'),
    params: PluginParams,
    body: Type.Object({
      release: Type.Optional(
        Type.String({ maxLength: 100, description: 'The `release` that was reviewed.', examples: ['3f2a9c0d'] }),
      ),
    }),
    bodyOptional: true,
    mayConflict: true,
    responses: { 200: withPlugin(acceptanceAnswer) },
  }),
  upgrade: route({
    method: 'POST',
    path: `${plugins}/:id/upgrade`,
    operationId: 'upgradePlugin',
    summary:
      'Install the newest version, or the version `tag`; streams progress with `Accept: application/x-ndjson` (admin)',
    description: 'Requires the admin level. Configurations are retained. Nothing changes if a step fails.',
    access: inOrganization('plugin:write'),
    params: PluginParams,
    body: PluginWrite,
    bodyOptional: true,
    responses: { 200: withPlugin(updateAnswer) },
  }),
}
