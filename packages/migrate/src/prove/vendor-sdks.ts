import type { ImportedFlag, ImportSource } from '../model/model.ts'
import { normalized, type ProofContext, subjectOf } from './evaluate-imported.ts'

/** The services' own SDKs, evaluating in process. The user installs them; Halyard does not depend on them. */

/** What an SDK returns for one person and flag. */
export interface VendorResult {
  /** Undefined where the SDK reports an error instead of a value, or leaves the flag to its server. */
  readonly value: unknown
  /** Why there is no value. */
  readonly error?: string
  /** How the SDK explains it. */
  readonly trace: unknown
}

type Evaluate = (context: ProofContext, flag: ImportedFlag) => VendorResult | Promise<VendorResult>

export interface VendorEvaluator {
  readonly evaluate: Evaluate
  /** Ends timers that would keep the process alive. */
  readonly close: () => unknown
}

export interface VendorSdk {
  readonly packageName: string
  readonly version: string
  /** Throws when the SDK cannot read the document. */
  load(document: unknown): Promise<VendorEvaluator>
}

type Load = (require: NodeJS.Require, document: never, folder: string) => Loaded | Promise<Loaded>

/** Most SDKs have nothing to close. */
type Loaded = Evaluate | VendorEvaluator

const sdks: Readonly<Partial<Record<ImportSource, readonly [packageName: string, load: Load]>>> = {
  launchdarkly: ['@launchdarkly/node-server-sdk', loadLaunchDarkly],
  unleash: ['unleash-client', loadUnleash],
  growthbook: ['@growthbook/growthbook', loadGrowthBook],
  flagsmith: ['flagsmith-nodejs', loadFlagsmith],
  flagd: ['@openfeature/flagd-core', loadFlagd],
  configcat: ['configcat-node', loadConfigCat],
  posthog: ['posthog-node', loadPostHog],
  flipt: ['@flipt-io/flipt-client-js', loadFlipt],
}

export const provenSources = Object.keys(sdks) as ImportSource[]

/** The versions that the converters were written against are in scripts/prove-imports.mjs. */
export const installLine = (source: ImportSource): string =>
  `npm install ${[...(peers[source] ?? []), packageOf(source)].join(' ')}`

/** Packages that npm does not install along. */
const peers: Readonly<Partial<Record<ImportSource, readonly string[]>>> = { flagd: ['@openfeature/core'] }

export const packageOf = (source: ImportSource): string => sdks[source]![0]

/** `require` and `folder`, a `node_modules`, are where the SDK is installed. Throws when the SDK cannot read the document. */
export async function loadSdk(
  source: ImportSource,
  document: unknown,
  { require, folder }: { readonly require: NodeJS.Require; readonly folder: string },
): Promise<VendorEvaluator> {
  const [, load] = sdks[source]!
  return evaluatorOf(await load(require, document as never, folder))
}

const evaluatorOf = (loaded: Loaded): VendorEvaluator =>
  typeof loaded === 'function' ? { evaluate: loaded, close: () => {} } : loaded

interface LaunchDarklyDocument {
  readonly flags: Readonly<Record<string, object>>
  readonly segments: Readonly<Record<string, object>>
}

async function loadLaunchDarkly(
  require: NodeJS.Require,
  { flags, segments }: LaunchDarklyDocument,
): Promise<VendorEvaluator> {
  const { init } = require('@launchdarkly/node-server-sdk')
  const { TestData } = require('@launchdarkly/node-server-sdk/integrations')
  const data = new TestData()
  // The SDK changes what it is given.
  for (const segment of Object.values(structuredClone(segments))) data.usePreconfiguredSegment(segment)
  for (const flag of Object.values(structuredClone(flags))) data.usePreconfiguredFlag(flag)
  const logger = { error() {}, warn() {}, info() {}, debug() {} }
  const client = init('sdk', { updateProcessor: data.getFactory(), sendEvents: false, diagnosticOptOut: true, logger })
  await client.waitForInitialization({ timeout: 10 })
  const evaluate: Evaluate = async ({ id, attributes, groups = {} }, { sourceId }) => {
    const others = Object.entries(groups).map(([kind, group]) => [kind, { ...group.attributes, key: group.key }])
    const context = { kind: 'multi', user: { ...attributes, key: id }, ...Object.fromEntries(others) }
    const details = await client.variationDetail(sourceId, context, null)
    const { value, reason } = details
    if (reason.kind === 'ERROR') return { value: undefined, error: reason.errorKind, trace: details }
    return { value: normalized(value), trace: details }
  }
  return { evaluate, close: () => client.close() }
}

interface UnleashDocument {
  readonly features: readonly { readonly name: string }[]
  readonly segments?: readonly { readonly id: string }[]
}

interface UnleashVariant {
  readonly name: string
  readonly enabled: boolean
  readonly feature_enabled: boolean
  readonly payload?: { readonly type: string; readonly value: string }
}

function loadUnleash(require: NodeJS.Require, { features, segments = [] }: UnleashDocument): Evaluate {
  const { default: Client } = require('unleash-client/lib/client.js')
  const { defaultStrategies } = require('unleash-client/lib/strategy/index.js')
  const byName = new Map(features.map(feature => [feature.name, feature]))
  const bySegment = new Map(segments.map(segment => [segment.id, segment]))
  const repository = {
    getToggle: (name: string) => byName.get(name),
    getSegment: (id: string) => bySegment.get(id),
  }
  const client = new Client(repository, defaultStrategies)
  client.on('error', () => {})
  client.on('warn', () => {})
  const resultOf = (variant: UnleashVariant): unknown => {
    if (!variant.feature_enabled) return normalized(false)
    if (!variant.enabled) return true
    const { payload } = variant
    if (payload === undefined) return variant.name
    return payload.type === 'json' || payload.type === 'number' ? JSON.parse(payload.value) : payload.value
  }
  return ({ id, attributes }, { sourceId }) => {
    const { currentTime, remoteAddress, sessionId, ...properties } = attributes
    const context = { userId: id, currentTime, remoteAddress, sessionId, properties }
    const trace: UnleashVariant = client.getVariant(sourceId, context)
    return { value: resultOf(trace), trace }
  }
}

function loadGrowthBook(require: NodeJS.Require, document: Record<string, unknown>): Evaluate {
  const { GrowthBookClient } = require('@growthbook/growthbook')
  const client = new GrowthBookClient().initSync({ payload: document })
  return ({ id, attributes }, { sourceId }) => {
    const trace = client.evalFeature(sourceId, { attributes: { ...attributes, id } })
    return { value: normalized(trace.value), trace }
  }
}

function loadFlagsmith(require: NodeJS.Require, document: unknown, folder: string): Evaluate {
  const inPackage = (path: string) => require(`${folder}/flagsmith-nodejs/build/cjs/flagsmith-engine/${path}`)
  const { buildEnvironmentModel } = inPackage('environments/util.js')
  const { getEvaluationContext } = inPackage('evaluation/evaluationContext/mappers.js')
  const { IdentityModel, TraitModel, getEvaluationResult } = inPackage('index.js')
  const environment = buildEnvironmentModel(document)
  let last:
    | { readonly context: ProofContext; readonly flags: Record<string, { enabled: boolean; value: unknown }> }
    | undefined
  return (context, { sourceId }) => {
    if (last?.context !== context) {
      const traits = Object.entries(context.attributes).map(([name, value]) => new TraitModel(name, value))
      const identity = new IdentityModel(new Date(0).toISOString(), traits, [], environment.apiKey, context.id)
      last = { context, flags: getEvaluationResult(getEvaluationContext(environment, identity)).flags }
    }
    const trace = last.flags[sourceId]!
    const { enabled, value } = trace
    if (!enabled) return { value: normalized(false), trace }
    return { value: value === null || value === undefined ? true : normalized(value), trace }
  }
}

function loadFlagd(require: NodeJS.Require, document: unknown): Evaluate {
  const { FlagdCore } = require('@openfeature/flagd-core')
  const quiet = { error() {}, warn() {}, info() {}, debug() {} }
  const core = new FlagdCore(undefined, quiet)
  core.setConfigurations(JSON.stringify(document))
  return ({ id, attributes }, { sourceId }) => {
    const flag = core.getFlag(sourceId)
    if (flag.state === 'DISABLED') return { value: normalized(false), trace: { state: flag.state } }
    const trace = flag.evaluate({ ...attributes, targetingKey: id }, quiet)
    if (trace.errorCode === undefined) return { value: normalized(trace.value), trace }
    return { value: undefined, error: `${trace.errorCode} ${trace.errorMessage ?? ''}`.trim(), trace }
  }
}

function loadConfigCat(require: NodeJS.Require, document: unknown): Evaluate {
  const inCommon = (name: string) => require(`configcat-common/lib/${name}.js`)
  const { RolloutEvaluator, evaluate } = inCommon('RolloutEvaluator')
  const { Config } = inCommon('ProjectConfig')
  const { LoggerWrapper } = inCommon('ConfigCatLogger')
  const quiet = new LoggerWrapper({ level: -1, log() {} })
  const { settings } = Config.deserialize(JSON.stringify(document))
  const evaluator = new RolloutEvaluator(quiet)
  return ({ id, attributes }, { sourceId }) => {
    const { Email, Country, ...custom } = attributes
    const user = { identifier: id, email: Email, country: Country, custom }
    try {
      const trace = evaluate(evaluator, settings, sourceId, null, user, null, quiet)
      if (!trace.isDefaultValue) return { value: normalized(trace.value), trace }
      return { value: undefined, error: String(trace.errorMessage ?? 'no value'), trace }
    } catch (error) {
      return { value: undefined, error: String(error), trace: String(error) }
    }
  }
}

/** Its local evaluation, fed with definitions instead of a download. Undefined where it would query the server. */
async function loadPostHog(require: NodeJS.Require, document: unknown): Promise<VendorEvaluator> {
  const { PostHog } = require('posthog-node')
  const body = JSON.stringify(document)
  const client = new PostHog('phc_proof', {
    host: 'http://127.0.0.1:9',
    personalApiKey: 'phx_proof',
    featureFlagsPollingInterval: 2 ** 30,
    fetch: async () => new Response(body, { status: 200 }),
  })
  await client.waitForLocalEvaluationReady()
  let last: { readonly context: ProofContext; readonly flags: Readonly<Record<string, unknown>> } | undefined
  const evaluate: Evaluate = async (context, { key }) => {
    if (last?.context !== context) {
      const flags = await client.getAllFlags(context.id, {
        onlyEvaluateLocally: true,
        personProperties: context.attributes,
        groups: subjectOf(context).groups,
        groupProperties: subjectOf(context).groupProperties,
      })
      last = { context, flags }
    }
    const value = last.flags[key]
    if (value !== undefined) return { value: normalized(value), trace: { value } }
    return { value, error: 'it queries its server for this flag', trace: { value } }
  }
  return { evaluate, close: () => client.shutdown() }
}

async function loadFlipt(require: NodeJS.Require, document: unknown): Promise<VendorEvaluator> {
  const { FliptClient } = require('@flipt-io/flipt-client-js')
  const response = { ok: true, status: 200, statusText: '', headers: { get: () => null }, json: async () => document }
  const client = await FliptClient.init({ namespace: 'default', updateInterval: 0, fetcher: async () => response })
  const evaluate: Evaluate = ({ id, attributes }, { sourceId, filters }) => {
    const request = { flagKey: sourceId, entityId: id, context: attributes }
    try {
      if (!filters.multivariate) {
        const trace = client.evaluateBoolean(request)
        return { value: normalized(trace.enabled), trace }
      }
      const trace = client.evaluateVariant(request)
      const { variantKey, match } = trace
      return { value: variantKey === '' ? normalized(match) : variantKey, trace }
    } catch (error) {
      return { value: undefined, error: String(error), trace: String(error) }
    }
  }
  return { evaluate, close: () => client.close() }
}
