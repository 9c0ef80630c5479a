import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { convertersBySource, ImportFileError, type ImportItem, type ImportSource } from '@halyard/migrate'
import {
  compileImported,
  evaluateImported,
  normalized,
  OFF,
  type ProofContext,
} from '@halyard/migrate/prove/evaluate-imported'
import { parse as parseYaml } from 'yaml'
import { linearRegex } from '../../packages/server/src/evaluation/linear-regex.ts'
import { gherkinCases } from './gherkin.ts'
import { proofOptions } from './proof.ts'

/** Replays the services' own test data through the converters; see scripts/replay-corpora.mjs. */

interface CorpusCase {
  readonly name: string
  readonly document: unknown
  readonly flag: string
  readonly context: ProofContext
  readonly expected: unknown
  /** Why the case cannot be replayed, although its definitions may be convertible. */
  readonly unsuitable?: string
}

type Json = Record<string, unknown>

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value : [])

const readJson = (path: string): never => JSON.parse(readFileSync(path, 'utf8').replace(/^\s*\/\/.*$/gm, '')) as never

interface UnleashTest {
  readonly description: string
  readonly context: Json
  readonly toggleName: string
  readonly expectedResult: unknown
}

function* unleashCases(directory: string): Generator<CorpusCase> {
  const folder = join(directory, 'specifications')
  for (const file of readJson(join(folder, 'index.json')) as string[]) {
    const {
      state,
      tests = [],
      variantTests = [],
    } = readJson(join(folder, file)) as {
      readonly state: Json
      readonly tests?: UnleashTest[]
      readonly variantTests?: UnleashTest[]
    }
    const caseOf = ({ description, context, toggleName }: UnleashTest, expected: unknown): CorpusCase => {
      const { userId, properties, ...fields } = context as { userId?: string; properties?: Json }
      const attributes: Json = { ...properties, ...fields }
      const shared = { name: `${file}: ${description}`, document: state, flag: toggleName, expected }
      const feature = JSON.stringify(listOf(state.features).find(({ name }) => name === toggleName) ?? {})
      const isAboutUser = userId === undefined && attributes.sessionId !== undefined && /userId/i.test(feature)
      const unsuitable = 'The flag asks for the user id, and only a session is known.'
      // Before people sign in, their session is their distinct id.
      const id = userId ?? (attributes.sessionId as string | undefined) ?? ''
      return { ...shared, context: { id, attributes }, ...(isAboutUser && { unsuitable }) }
    }
    for (const test of tests) yield caseOf(test, test.expectedResult === true ? 'on' : OFF)
    for (const test of variantTests) {
      const { name, enabled, payload, feature_enabled: isOn } = test.expectedResult as Json & { payload?: Json }
      const value = payload === undefined ? name : unleashPayload(payload)
      yield caseOf(test, enabled === true ? value : isOn === true ? true : OFF)
    }
  }
}

function unleashPayload({ type, value }: Json): unknown {
  return type === 'json' || type === 'number' ? JSON.parse(String(value)) : value
}

function* growthbookCases(file: string): Generator<CorpusCase> {
  const corpus = readJson(file) as Record<string, unknown[][]>
  for (const [name, condition, attributes, expected, savedGroups] of corpus.evalCondition!) {
    yield {
      name: `evalCondition: ${String(name)}`,
      document: { features: { flag: { defaultValue: false, rules: [{ condition, force: true }] } }, savedGroups },
      flag: 'flag',
      context: growthbookContext(attributes as Json),
      expected: normalized(expected),
    }
  }
  for (const [name, context, key, expected] of corpus.feature!) {
    const { attributes = {}, features = {}, savedGroups, ...rest } = context as Json
    const others = Object.keys(rest)
    yield {
      name: `feature: ${String(name)}`,
      document: { features, savedGroups },
      flag: String(key),
      context: growthbookContext(attributes as Json),
      expected: normalized((expected as Json).value),
      ...(others.length > 0 && { unsuitable: `The test sets ${others.join(', ')} in the SDK.` }),
    }
  }
  for (const [section, cases] of Object.entries(corpus)) {
    if (!Array.isArray(cases) || section === 'evalCondition' || section === 'feature') continue
    for (const [index] of cases.entries()) {
      const unsuitable = `${section} tests a function of the SDK, not definitions.`
      yield {
        name: `${section} ${index}`,
        document: {},
        flag: '',
        context: { id: '', attributes: {} },
        expected: null,
        unsuitable,
      }
    }
  }
}

const growthbookContext = ({ id, ...attributes }: Json): ProofContext => ({
  id: id === undefined || id === null ? '' : String(id),
  attributes,
})

/** The test data has evaluation contexts, which are turned back into an environment document. */
function* flagsmithCases(directory: string): Generator<CorpusCase> {
  const folder = join(directory, 'test_cases')
  for (const file of readdirSync(folder)) {
    const { context, result } = readJson(join(folder, file)) as {
      context: Json
      result: { flags: Record<string, Json> }
    }
    const { environment, identity, features, segments } = context as Record<string, Json>
    const state = (feature: Json): Json => ({
      django_id: feature.key,
      feature: { name: feature.name },
      enabled: feature.enabled,
      feature_state_value: feature.value,
      feature_segment: feature.priority === undefined ? undefined : { priority: feature.priority },
      multivariate_feature_state_values: ((feature.variants ?? []) as Json[]).map(({ value, weight, priority }) => ({
        id: Number(priority),
        percentage_allocation: weight,
        multivariate_feature_option: { value },
      })),
    })
    const document = {
      api_key: environment?.key,
      name: environment?.name,
      feature_states: Object.values(features ?? {}).map(feature => state(feature as Json)),
      project: {
        segments: Object.values(segments ?? {}).map((value, index) => {
          const segment = value as Json
          const overrides = ((segment.overrides ?? []) as Json[]).map(state)
          return { id: segment.key ?? index, name: segment.name, rules: segment.rules, feature_states: overrides }
        }),
      },
    }
    const hasOwnKey = identity?.key !== undefined && identity.key !== `${environment?.key}_${identity.identifier}`
    const statesOf = (flag: string): Json[] =>
      [...document.feature_states, ...document.project.segments.flatMap(segment => segment.feature_states)].filter(
        ({ feature }) => (feature as Json).name === flag,
      )
    const isSplit = (flag: string): boolean =>
      document.project.segments.some(
        ({ rules, feature_states: states }) =>
          states.some(({ feature }) => (feature as Json).name === flag) &&
          JSON.stringify(rules).includes('PERCENTAGE_SPLIT'),
      )
    const isHashed = (flag: string): boolean =>
      isSplit(flag) || statesOf(flag).some(state => (state.multivariate_feature_state_values as unknown[]).length > 0)
    for (const [flag, { enabled, value }] of Object.entries(result.flags)) {
      const unsuitable =
        identity === undefined
          ? 'There is no person in the test.'
          : hasOwnKey && isHashed(flag)
            ? 'The test hashes a key of the person that is not in documents.'
            : undefined
      yield {
        name: `${file}: ${flag}`,
        document,
        flag,
        context: { id: String(identity?.identifier ?? ''), attributes: (identity?.traits ?? {}) as Json },
        expected: enabled !== true ? OFF : value === null || value === undefined ? true : normalized(value),
        ...(unsuitable !== undefined && { unsuitable }),
      }
    }
  }
}

function* flagdCases(directory: string): Generator<CorpusCase> {
  const document = readJson(join(directory, 'evaluator/flags/testkit-flags.json'))
  const folder = join(directory, 'evaluator/gherkin')
  for (const file of readdirSync(folder).filter(name => name.endsWith('.feature'))) {
    for (const { name, flag, id, attributes, fallback, expected, unsuitable } of gherkinCases(
      readFileSync(join(folder, file), 'utf8'),
    )) {
      yield {
        name: `${file}: ${name}`,
        document,
        flag,
        context: { id, attributes },
        // The default in the code applies where there is no value.
        expected: isDeepStrictEqual(expected, fallback) ? { fallback: normalized(expected) } : normalized(expected),
        ...(unsuitable !== undefined && { unsuitable }),
      }
    }
  }
}

/** Templates with `<NAME>` for constants and for parameters, of which several lists are combined. */
function* launchdarklyCases(directory: string): Generator<CorpusCase> {
  const folder = join(directory, 'data/data-files/server-side-eval')
  for (const file of readdirSync(folder).filter(name => name.endsWith('.yml'))) {
    const template = parseYaml(readFileSync(join(folder, file), 'utf8'), { merge: true }) as Json
    for (const parameters of parameterSets(template.parameters)) {
      const names = { ...(template.constants as Json | undefined), ...parameters }
      const { sdkData, evaluations } = filledIn({ sdkData: template.sdkData, evaluations: template.evaluations }, names)
      const { flags = {}, segments = {} } = sdkData as { flags?: Json; segments?: Json }
      for (const { name, flagKey, context, default: fallback, expect } of evaluations as Json[]) {
        const { value, reason } = expect as { value: unknown; reason?: { kind?: string } }
        yield {
          name: `${file}: ${String(name)}`,
          document: { flags: withSalt(flags), segments },
          flag: String(flagKey),
          ...launchdarklyContext((context ?? {}) as Json),
          expected: normalized(value),
          ...(reason?.kind === 'ERROR' && { unsuitable: 'The SDK returns the default of the code after an error.' }),
          ...(isDeepStrictEqual(value, fallback) && reason?.kind === 'OFF' && { expected: OFF }),
        }
      }
    }
  }
}

const withSalt = (flags: Json): Json =>
  Object.fromEntries(
    Object.entries(flags).map(([key, flag]) => [key, { salt: '', offVariation: null, ...(flag as Json) }]),
  )

function launchdarklyContext(context: Json): Pick<CorpusCase, 'context' | 'unsuitable'> {
  const { kind = 'user', key, custom, _meta, ...attributes } = context
  const unsuitable = kind === 'user' ? undefined : 'The context is not a user.'
  return {
    context: { id: String(key ?? ''), attributes: { ...attributes, ...(custom as Json | undefined) } },
    ...(unsuitable !== undefined && { unsuitable }),
  }
}

/** A list of sets, or lists of sets that are combined. */
function parameterSets(value: unknown): Json[] {
  const sets = (value ?? [{}]) as (Json | Json[])[]
  if (!sets.every(Array.isArray)) return sets as Json[]
  return (sets as Json[][]).reduce<Json[]>(
    (combined, next) => combined.flatMap(left => next.map(right => ({ ...left, ...right }))),
    [{}],
  )
}

/** A text that is only `<NAME>` becomes the value with its type; within other text it becomes text. */
function filledIn<T>(value: T, names: Json): T {
  if (Array.isArray(value)) return value.map(item => filledIn(item, names)) as T
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [filledIn(key, names), filledIn(inner, names)]),
    ) as T
  }
  if (typeof value !== 'string') return value
  const whole = /^<([A-Za-z_\d]+)>$/.exec(value)
  if (whole && whole[1]! in names) return filledIn(names[whole[1]!], names) as T
  return value.replace(/<([A-Za-z_\d]+)>/g, (text, name) => (name in names ? textOf(names[name]) : text)) as T
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

interface Tally {
  cases: number
  passed: number
  refused: number
  /** The flag claims to be approximate. */
  declared: number
  differing: number
}

const corpora: Readonly<Partial<Record<ImportSource, (path: string) => Generator<CorpusCase>>>> = {
  unleash: unleashCases,
  growthbook: growthbookCases,
  flagsmith: flagsmithCases,
  flagd: flagdCases,
  launchdarkly: launchdarklyCases,
}

function isExpected(found: unknown, expected: unknown): boolean {
  if (expected === 'on') return found !== OFF
  if (typeof expected === 'object' && expected !== null && 'fallback' in expected) {
    return found === OFF || isDeepStrictEqual(found, expected.fallback)
  }
  return isDeepStrictEqual(found, expected)
}

function replay(source: ImportSource, path: string): Tally {
  const tally: Tally = { cases: 0, passed: 0, refused: 0, declared: 0, differing: 0 }
  const reasons = new Map<string, number>()
  const refuse = (reason: string): void => {
    tally.refused++
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  for (const { name, document, flag, context, expected, unsuitable } of corpora[source]!(path)) {
    tally.cases++
    if (unsuitable !== undefined) {
      refuse(unsuitable)
      continue
    }
    let item: ImportItem | undefined
    let found: unknown
    try {
      const project = convertersBySource[source]!(document, proofOptions)
      item = project.items.find(({ kind, sourceId }) => kind === 'flag' && sourceId === flag)
      if (item?.status !== 'refused') {
        const kept = compileImported(project, linearRegex)
        found = item === undefined ? OFF : evaluateImported(project, kept, context, Date.now()).get(flag)
      }
    } catch (error) {
      if (!(error instanceof ImportFileError)) throw error
      refuse(error.message)
      continue
    }
    if (item?.status === 'refused') refuse(item.reasons.at(-1)!.message)
    else if (isExpected(found, expected)) tally.passed++
    else if (item?.status === 'approximate') {
      tally.declared++
      console.log(`${source}: ${name}: declared: ${item.reasons.map(({ message }) => message).join(' ')}`)
    } else {
      tally.differing++
      console.log(`${source}: ${name}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`)
    }
  }
  for (const [reason, count] of [...reasons].sort(([, left], [, right]) => right - left)) {
    console.log(`${source}: refused ${count}: ${reason}`)
  }
  return tally
}

let failed = false
for (const [index, source] of (Object.keys(corpora) as ImportSource[]).entries()) {
  const path = process.argv[index + 2]
  if (path === undefined || path === '') continue
  if (!existsSync(path)) throw new Error(`${path} does not exist.`)
  const tally = replay(source, path)
  console.log(`${source}: ${JSON.stringify(tally)}`)
  failed ||= tally.differing > 0
}
process.exitCode = failed ? 1 : 0
