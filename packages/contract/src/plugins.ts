import Type, { type Static, type TSchema } from 'typebox'
import { ActivityChange, activityAnswer, activityQuery } from './activity.ts'
import { Page, PageQuery } from './page.ts'
import { inOrganization, route } from './route.ts'
import {
  descriptionCharactersMax,
  FreeObject,
  FreeObjectInput,
  IdParam,
  mebibyte,
  Nullable,
  OrganizationParams,
  Uuid,
} from './schema.ts'

export const pluginTypes = ['local', 'custom', 'repository', 'source'] as const
const PluginType = Type.Union([
  Type.Literal('local'),
  Type.Literal('custom'),
  Type.Literal('repository'),
  Type.Literal('source'),
])

/** Contract 2.5. */
export const Plugin = Type.Object({
  id: Type.Integer(),
  plugin_type: PluginType,
  name: Type.String(),
  description: Type.String(),
  url: Nullable(Type.String()),
  icon: Nullable(Type.String()),
  config_schema: FreeObject('Settings by their key.'),
  tag: Nullable(Type.String({ description: 'The installed version.' })),
  latest_tag: Nullable(Type.String({ description: 'The newest version known.' })),
  is_global: Type.Boolean(),
  organization_id: Uuid(),
  organization_name: Type.String(),
  capabilities: FreeObject('What the code offers: `methods`, `scheduled_tasks`, `jobs`.'),
  metrics: FreeObject('Calls, failures, time and memory.'),
  public_jobs: FreeObject('Jobs that people can start, by name.'),
})
export type Plugin = Static<typeof Plugin>

export const pluginNameCharactersMax = 200

/** Contract 2.5, the writable fields, in the order in which errors are reported. */
const writable = {
  plugin_type: Type.Optional(PluginType),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: pluginNameCharactersMax })),
  description: Type.Optional(Type.String({ maxLength: descriptionCharactersMax })),
  icon: Type.Optional(Nullable(Type.String({ maxLength: 800 }))),
  config_schema: Type.Optional(FreeObjectInput(mebibyte)),
  tag: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
  is_global: Type.Optional(Type.Boolean()),
  capabilities: Type.Optional(FreeObjectInput(mebibyte)),
  metrics: Type.Optional(FreeObjectInput(mebibyte)),
  public_jobs: Type.Optional(FreeObjectInput(mebibyte)),
}
export const PluginWrite = Type.Object(writable)
export type PluginWrite = Static<typeof PluginWrite>

export const CatalogueEntry = Type.Object({
  name: Type.String(),
  url: Type.String(),
  description: Type.String(),
  verified: Type.Boolean({ description: 'Tested with this version.' }),
  maintainer: Type.Union([Type.Literal('official'), Type.Literal('community')]),
  type: Type.String({ description: '`data_in`, `data_out`, `ingestion_filtering` or `flags`.' }),
  displayOnWebsiteLib: Type.Boolean(),
  needs: Type.String({ description: 'Prerequisites; empty if there are none.' }),
})
export type CatalogueEntry = Static<typeof CatalogueEntry>

const PluginParams = Type.Object({ ...OrganizationParams.properties, id: IdParam() })

const sourceAnswer = {
  source: Type.Record(Type.String(), Type.String(), { description: 'File name → text.' }),
}
const updateAnswer = {
  plugin: Plugin,
  update_available: Nullable(Type.Boolean({ description: 'Null if the origin is unreachable.' })),
  warning: Type.Optional(Type.String()),
}
const acceptanceAnswer = {
  release: Type.String({ description: 'Identifies the plugin as its owner has it now.' }),
  accepted_release: Nullable(Type.String({ description: 'What this organization runs; null before it accepts one.' })),
  update_available: Type.Boolean({ description: 'The owner has changed the plugin since it was accepted.' }),
}
/** Of a plugin that belongs to another organization. */
const PluginInUse = Type.Object({ ...Plugin.properties, ...Type.Partial(Type.Object(acceptanceAnswer)).properties })
const withPlugin = <P extends Record<string, TSchema>>(extra: P) => Type.Object({ ...Plugin.properties, ...extra })

const tag = 'Plugins'
const plugins = '/api/organizations/:parent_lookup_organization_id/plugins' as const

export const pluginRoutes = {
  list: route({
    method: 'GET',
    path: plugins,
    tag,
    summary: 'List the plugins available to the organization',
    access: inOrganization('plugin:read'),
    params: OrganizationParams,
    query: PageQuery,
    answers: { 200: Page(PluginInUse) },
  }),
  create: route({
    method: 'POST',
    path: plugins,
    tag,
    summary: 'Register a plugin; nothing is fetched (admin)',
    access: inOrganization('plugin:write'),
    params: OrganizationParams,
    body: PluginWrite,
    bodyOptional: true,
    answers: { 201: Plugin },
  }),
  install: route({
    method: 'POST',
    path: `${plugins}/install`,
    tag,
    summary:
      'Install a plugin from npm, GitHub or GitLab, all or nothing; streams progress with `Accept: application/x-ndjson` (admin)',
    access: inOrganization('plugin:write'),
    params: OrganizationParams,
    body: Type.Object({
      url: Type.String({ minLength: 1, maxLength: 800, description: 'May carry `?private_token=`.' }),
      plugin_type: Type.Optional(PluginType),
      is_global: Type.Optional(Type.Boolean()),
    }),
    answers: { 201: Plugin },
  }),
  activity: route({
    method: 'GET',
    path: `${plugins}/activity`,
    tag,
    summary: 'List the activity of all plugins of the organization, newest first',
    access: inOrganization('activity_log:read', 'plugin:read'),
    params: OrganizationParams,
    query: Type.Object({
      ...activityQuery,
      plugin: Type.Optional(Type.String({ description: 'Only activity of the plugin with this id.' })),
    }),
    answers: { 200: withPlugin(activityAnswer) },
  }),
  repository: route({
    method: 'GET',
    path: `${plugins}/repository`,
    tag,
    summary: 'List the plugin catalog',
    access: inOrganization('plugin:read'),
    params: OrganizationParams,
    answers: { 200: withPlugin({ results: Type.Array(CatalogueEntry) }) },
  }),
  unused: route({
    method: 'GET',
    path: `${plugins}/unused`,
    tag,
    summary: "List the ids of the organization's plugins that are not enabled in any project",
    access: inOrganization('plugin:read'),
    params: OrganizationParams,
    answers: { 200: withPlugin({ results: Type.Array(Type.Integer()) }) },
  }),
  get: route({
    method: 'GET',
    path: `${plugins}/:id`,
    tag,
    summary: 'Get a plugin',
    access: inOrganization('plugin:read'),
    params: PluginParams,
    answers: { 200: PluginInUse },
  }),
  update: route({
    method: 'PATCH',
    path: `${plugins}/:id`,
    tag,
    summary: 'Change the metadata of a plugin (admin)',
    access: inOrganization('plugin:write'),
    params: PluginParams,
    body: PluginWrite,
    answers: { 200: Plugin },
  }),
  remove: route({
    method: 'DELETE',
    path: `${plugins}/:id`,
    tag,
    summary: 'Uninstall a plugin with its source and its configurations (admin)',
    access: inOrganization('plugin:write'),
    params: PluginParams,
    answers: { 204: null },
  }),
  checkForUpdates: route({
    method: 'GET',
    path: `${plugins}/:id/check_for_updates`,
    tag,
    summary: 'Check the origin of the plugin for a newer version',
    access: inOrganization('plugin:read'),
    params: PluginParams,
    answers: { 200: withPlugin(updateAnswer) },
  }),
  source: route({
    method: 'GET',
    path: `${plugins}/:id/source`,
    tag,
    summary: 'Get the source files of a plugin',
    access: inOrganization('plugin:read'),
    params: PluginParams,
    answers: { 200: withPlugin(sourceAnswer) },
  }),
  updateSource: route({
    method: 'PATCH',
    path: `${plugins}/:id/update_source`,
    tag,
    summary: 'Write source files (file name → text, or null to delete) and compile them (admin)',
    access: inOrganization('plugin:write'),
    params: PluginParams,
    body: PluginWrite,
    bodyOptional: true,
    answers: { 200: withPlugin(sourceAnswer) },
  }),
  previewUpgrade: route({
    method: 'GET',
    path: `${plugins}/:id/preview_upgrade`,
    tag,
    summary: 'Preview the changes of installing the newest version, or the version `tag`; stores nothing (admin)',
    access: inOrganization('plugin:write'),
    params: PluginParams,
    query: Type.Object({ tag: Type.Optional(Type.String({ description: 'The newest version by default.' })) }),
    answers: {
      200: Type.Object({
        from: Nullable(Type.String({ description: 'The installed version.' })),
        to: Nullable(Type.String()),
        changes: Type.Array(ActivityChange, { description: 'Field by field and file by file.' }),
      }),
    },
  }),
  releaseChanges: route({
    method: 'GET',
    path: `${plugins}/:id/release_changes`,
    tag,
    summary: "Compare another organization's plugin as it is now with the release that this organization accepted",
    access: inOrganization('plugin:read'),
    params: PluginParams,
    answers: {
      200: Type.Object({
        release: acceptanceAnswer.release,
        accepted_release: acceptanceAnswer.accepted_release,
        changes: Type.Array(ActivityChange, { description: 'Field by field and file by file.' }),
        source_known: Type.Boolean({
          description: 'False when the files of the accepted release were not stored; `changes` then has no files.',
        }),
      }),
    },
  }),
  accept: route({
    method: 'POST',
    path: `${plugins}/:id/accept`,
    tag,
    summary: "Let this organization's projects run another organization's plugin as it is now (admin)",
    access: inOrganization('plugin:write'),
    params: PluginParams,
    body: Type.Object({
      release: Type.Optional(Type.String({ maxLength: 100, description: 'The `release` that was reviewed.' })),
    }),
    bodyOptional: true,
    answers: { 200: withPlugin(acceptanceAnswer) },
  }),
  upgrade: route({
    method: 'POST',
    path: `${plugins}/:id/upgrade`,
    tag,
    summary:
      'Install the newest version, or the version `tag`; streams progress with `Accept: application/x-ndjson` (admin)',
    access: inOrganization('plugin:write'),
    params: PluginParams,
    body: PluginWrite,
    bodyOptional: true,
    answers: { 200: withPlugin(updateAnswer) },
  }),
}
