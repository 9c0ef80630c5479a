import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ImportSource } from '@halyard/importers'
import { normalized, type ProofContext } from './halyard-evaluator.ts'

/** The services' own SDKs, evaluating in process. They are installed beside the repository, not into it. */

/** Undefined where the SDK reports an error instead of a value. Some SDKs evaluate asynchronously. */
export type Evaluate = (context: ProofContext, key: string) => unknown

export interface VendorSdk {
  readonly packageName: string
  readonly version: string
  /** Throws when the SDK cannot read the document. */
  load(document: unknown): Promise<Evaluate>
}

type Load = (require: NodeJS.Require, document: never) => Evaluate | Promise<Evaluate>

const sdks: Readonly<Partial<Record<ImportSource, readonly [packageName: string, load: Load]>>> = {
  launchdarkly: ['@launchdarkly/node-server-sdk', loadLaunchDarkly],
  unleash: ['unleash-client', loadUnleash],
  growthbook: ['@growthbook/growthbook', loadGrowthBook],
  flagsmith: ['flagsmith-nodejs', loadFlagsmith],
  flagd: ['@openfeature/flagd-core', loadFlagd],
  configcat: ['configcat-node', loadConfigCat],
}

export const provenSources = Object.keys(sdks) as ImportSource[]

export const packageOf = (source: ImportSource): string => sdks[source]![0]

/** Undefined when the SDK is not installed in the directory. */
export function findSdk(source: ImportSource, directory: string): VendorSdk | undefined {
  const [packageName, load] = sdks[source]!
  const require = createRequire(join(directory, 'index.js'))
  try {
    const { version } = require(join(directory, 'node_modules', packageName, 'package.json')) as { version: string }
    return { packageName, version, load: async document => load(require, document as never) }
  } catch {
    return undefined
  }
}

interface LaunchDarklyDocument {
  readonly flags: Readonly<Record<string, object>>
  readonly segments: Readonly<Record<string, object>>
}

async function loadLaunchDarkly(require: NodeJS.Require, { flags, segments }: LaunchDarklyDocument): Promise<Evaluate> {
  const { init } = require('@launchdarkly/node-server-sdk')
  const { TestData } = require('@launchdarkly/node-server-sdk/integrations')
  const data = new TestData()
  // The SDK changes what it is given.
  for (const segment of Object.values(structuredClone(segments))) data.usePreconfiguredSegment(segment)
  for (const flag of Object.values(structuredClone(flags))) data.usePreconfiguredFlag(flag)
  const logger = { error() {}, warn() {}, info() {}, debug() {} }
  const client = init('sdk', { updateProcessor: data.getFactory(), sendEvents: false, diagnosticOptOut: true, logger })
  await client.waitForInitialization({ timeout: 10 })
  return async ({ id, attributes }, key) => {
    const { value, reason } = await client.variationDetail(key, { kind: 'user', key: id, ...attributes }, null)
    return reason.kind === 'ERROR' ? undefined : normalized(value)
  }
}

interface UnleashDocument {
  readonly features: readonly { readonly name: string }[]
  readonly segments?: readonly { readonly id: number }[]
}

function loadUnleash(require: NodeJS.Require, { features, segments = [] }: UnleashDocument): Evaluate {
  const { default: Client } = require('unleash-client/lib/client.js')
  const { defaultStrategies } = require('unleash-client/lib/strategy/index.js')
  const byName = new Map(features.map(feature => [feature.name, feature]))
  const bySegment = new Map(segments.map(segment => [segment.id, segment]))
  const repository = {
    getToggle: (name: string) => byName.get(name),
    getSegment: (id: number) => bySegment.get(id),
  }
  const client = new Client(repository, defaultStrategies)
  client.on('error', () => {})
  client.on('warn', () => {})
  return ({ id, attributes }, key) => {
    const { currentTime, remoteAddress, sessionId, ...properties } = attributes
    const context = { userId: id, currentTime, remoteAddress, sessionId, properties }
    const variant = client.getVariant(key, context)
    if (!variant.feature_enabled) return normalized(false)
    if (!variant.enabled) return true
    const { payload } = variant
    if (payload === undefined) return variant.name
    return payload.type === 'json' || payload.type === 'number' ? JSON.parse(payload.value) : payload.value
  }
}

function loadGrowthBook(require: NodeJS.Require, document: Record<string, unknown>): Evaluate {
  const { GrowthBookClient } = require('@growthbook/growthbook')
  const client = new GrowthBookClient().initSync({ payload: document })
  return ({ id, attributes }, key) => normalized(client.evalFeature(key, { attributes: { ...attributes, id } }).value)
}

function loadFlagsmith(require: NodeJS.Require, document: unknown): Evaluate {
  const engine = 'flagsmith-nodejs/build/cjs/flagsmith-engine'
  const inPackage = (path: string) => require(join(require.resolve.paths('x')![0]!, engine, path))
  const { buildEnvironmentModel } = inPackage('environments/util.js')
  const { getEvaluationContext } = inPackage('evaluation/evaluationContext/mappers.js')
  const { IdentityModel, TraitModel, getEvaluationResult } = inPackage('index.js')
  const environment = buildEnvironmentModel(document)
  let last:
    | { readonly context: ProofContext; readonly flags: Record<string, { enabled: boolean; value: unknown }> }
    | undefined
  return (context, key) => {
    if (last?.context !== context) {
      const traits = Object.entries(context.attributes).map(([name, value]) => new TraitModel(name, value))
      const identity = new IdentityModel(new Date(0).toISOString(), traits, [], environment.apiKey, context.id)
      last = { context, flags: getEvaluationResult(getEvaluationContext(environment, identity)).flags }
    }
    const { enabled, value } = last.flags[key]!
    if (!enabled) return normalized(false)
    return value === null || value === undefined ? true : normalized(value)
  }
}

function loadFlagd(require: NodeJS.Require, document: unknown): Evaluate {
  const { FlagdCore } = require('@openfeature/flagd-core')
  const quiet = { error() {}, warn() {}, info() {}, debug() {} }
  const core = new FlagdCore(undefined, quiet)
  core.setConfigurations(JSON.stringify(document))
  return ({ id, attributes }, key) => {
    const flag = core.getFlag(key)
    if (flag.state === 'DISABLED') return normalized(false)
    const result = flag.evaluate({ ...attributes, targetingKey: id }, quiet)
    return result.errorCode === undefined ? normalized(result.value) : undefined
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
  return ({ id, attributes }, key) => {
    const { Email, Country, ...custom } = attributes
    const user = { identifier: id, email: Email, country: Country, custom }
    try {
      const details = evaluate(evaluator, settings, key, null, user, null, quiet)
      return details.isDefaultValue ? undefined : normalized(details.value)
    } catch {
      return undefined
    }
  }
}
