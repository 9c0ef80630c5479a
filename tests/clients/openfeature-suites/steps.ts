import type { EvaluationContext, EvaluationDetails, FlagValue } from '@openfeature/core'
import { expect } from 'vitest'
import type { Scenario, Step } from './features.ts'
import type { Kind, Level, Platform, ProviderState, Question, SyncHook } from './platform.ts'

/** What the steps of one scenario share. */
interface World {
  readonly platform: Platform
  question: Question
  details: EvaluationDetails<FlagValue>
  /** The hooks that ran, in order, with the details that they received. */
  readonly stages: { readonly stage: string; readonly hook: string; readonly details?: object | undefined }[]
  hooks: SyncHook[]
  levels: Level[]
  context: { readonly given: EvaluationContext; readonly before: string } | undefined
}

type Handler = (world: World, values: readonly string[], rows: Step['rows']) => Promise<void> | void

/** Thrown by a step that the SDK has no function for. */
export class NotSupported extends Error {}

export async function run({ steps }: Scenario, platform: Platform): Promise<void> {
  await platform.reset()
  const world: World = {
    platform,
    question: { kind: 'Boolean', key: 'boolean-flag', fallback: false },
    details: undefined as never,
    stages: [],
    hooks: [],
    levels: [],
    context: undefined,
  }
  for (const { text, rows } of steps) {
    const [found, ...others] = definitions.flatMap(([pattern, handler]) => {
      const values = pattern.exec(text)?.slice(1)
      return values === undefined ? [] : [{ handler, values }]
    })
    if (found === undefined || others.length > 0) throw new Error(`${others.length} other steps match: ${text}`)
    await found.handler(world, found.values, rows)
  }
}

const evaluate: Handler = async world => {
  world.details = await world.platform.evaluate(world.question, world.hooks)
}

/** For the steps of the older suite, which name flag and default in one sentence. */
const ask =
  (kind: (values: readonly string[]) => string): Handler =>
  async (world, values, rows) => {
    const [key, fallback] = values.slice(-2)
    world.question = question(kind(values), key!, fallback!)
    await evaluate(world, values, rows)
  }

const definitions: readonly (readonly [RegExp, Handler])[] = [
  [/^an? (stable|not ready|error|fatal|stale) provider$/, (w, [state]) => w.platform.register(state as ProviderState)],
  [/^a stable provider with retrievable context is registered$/, w => w.platform.register('stable')],
  [/^the provider status should be "(.*)"$/, (w, [status]) => expect(w.platform.providerStatus()).toBe(status)],

  [
    /^an? (\w+)-flag with key "(.*)" and a fallback value "(.*)"$/,
    (w, [kind, key, fallback]) => {
      w.question = question(kind!, key!, fallback!)
    },
  ],
  [/^the flag was evaluated with details$/, evaluate],
  [/^the flag was evaluated with details asynchronously$/, evaluate],
  [/^the flag was evaluated with details using the evaluation options$/, evaluate],
  [/^Some flag was evaluated$/, evaluate],
  [/^the evaluation should complete without blocking$/, w => expect(w.details).toBeDefined()],

  [
    /^the resolved details value should be "(.*)"$/,
    (w, [value]) => expect(w.details.value).toEqual(parsed(w.question.kind, value!)),
  ],
  [/^the reason should be "(.*)"$/, (w, [reason]) => expect(w.details.reason).toBe(reason)],
  [/^the variant should be "([^"]*)"$/, (w, [variant]) => expect(w.details.variant).toBe(variant)],
  [/^the flag key should be "(.*)"$/, (w, [key]) => expect(w.details.flagKey).toBe(key)],
  [/^the error-code should be "(.*)"$/, (w, [code]) => expect(w.details.errorCode).toBe(code)],
  [
    /^the resolved metadata should contain$/,
    (w, _values, [, ...rows]) => {
      const expected = rows.map(([key, kind, value]) => [key!, parsed(kind as Kind, value!)])
      expect(w.details.flagMetadata).toMatchObject(Object.fromEntries(expected))
    },
  ],
  [/^the resolved metadata is empty$/, w => expect(w.details.flagMetadata).toEqual({})],

  [
    /^a context containing a key "(.*)", with type "(.*)" and with value "(.*)"$/,
    (w, [key, kind, value]) => setContext(w, usualLevel(w), { [key!]: parsed(kind as Kind, value!) }),
  ],
  [
    /^a context containing a key "(.*)" with null value$/,
    (w, [key]) => setContext(w, usualLevel(w), { [key!]: null } as unknown as EvaluationContext),
  ],
  [
    /^an evaluation context with modifiable data$/,
    async w => {
      const given = { plan: 'pro', nested: { list: [1, 2] } }
      w.context = { given, before: JSON.stringify(given) }
      await setContext(w, usualLevel(w), given)
    },
  ],
  [
    /^the original evaluation context should remain unmodified$/,
    w => expect(JSON.stringify(w.context!.given)).toBe(w.context!.before),
  ],
  [
    /^the evaluation details should be immutable$/,
    w => expect(Object.isFrozen(w.details.flagMetadata) || Object.isFrozen(w.details)).toBe(true),
  ],
  [
    /^A context entry with key "(.*)" and value "(.*)" is added to the "(.*)" level$/,
    (w, [key, value, level]) => setContext(w, level as Level, { [key!]: value! }),
  ],
  [
    /^A table with levels of increasing precedence$/,
    (w, _values, rows) => {
      w.levels = rows.map(([level]) => level as Level)
    },
  ],
  [
    /^Context entries for each level from API level down to the "(.*)" level, with key "(.*)" and value "(.*)"$/,
    async (w, [last, key]) => {
      for (const level of w.levels.slice(0, w.levels.indexOf(last as Level) + 1)) {
        await setContext(w, level, { [key!]: level })
      }
    },
  ],
  [
    /^The merged context contains an entry with key "(.*)" and value "(.*)"$/,
    (w, [key, value]) => expect(w.platform.receivedContext()).toMatchObject({ [key!]: value }),
  ],

  [/^a client with added hook$/, w => w.platform.addHook(recorder(w, 'added'))],
  [
    /^evaluation options containing specific hooks$/,
    w => {
      w.hooks = [recorder(w, 'first'), recorder(w, 'second')]
    },
  ],
  [
    /^the specified hooks should execute during evaluation$/,
    w => expect(new Set(w.stages.map(({ hook }) => hook))).toEqual(new Set(['first', 'second'])),
  ],
  [
    /^the hook order should be maintained$/,
    w =>
      expect(w.stages.map(({ stage, hook }) => `${hook} ${stage}`)).toEqual([
        'first before',
        'second before',
        'second after',
        'first after',
        'second finally',
        'first finally',
      ]),
  ],
  [
    /^the "(.*)" hook should have been executed$/,
    (w, [stage]) => expect(w.stages.map(each => each.stage)).toContain(stage),
  ],
  [
    /^the "(.*)" hooks should be called with evaluation details$/,
    (w, [stages], [, ...rows]) => {
      const expected = rows.map(([kind, key, value]) => [fieldNames[key!]!, cell(kind!, value!)])
      for (const stage of stages!.split(', ')) {
        const details = w.stages.find(each => each.stage === stage)?.details as Record<string, unknown>
        expect(Object.fromEntries(expected.map(([name]) => [name, details[name as string]]))).toEqual(
          Object.fromEntries(expected),
        )
      }
    },
  ],

  [/^an? (boolean|string) flag with key "(.*)" is evaluated with default value "(.*)"$/, ask(([kind]) => kind!)],
  [/^an? (integer|float) flag with key "(.*)" is evaluated with default value (\S+)$/, ask(([kind]) => kind!)],
  [/^an object flag with key "(.*)" is evaluated with a null default value()$/, ask(() => 'object')],
  [
    /^an? (boolean|string) flag with key "(.*)" is evaluated with details and default value "(.*)"$/,
    ask(([kind]) => kind!),
  ],
  [
    /^an? (integer|float) flag with key "(.*)" is evaluated with details and default value (\S+)$/,
    ask(([kind]) => kind!),
  ],
  [/^an object flag with key "(.*)" is evaluated with details and a null default value()$/, ask(() => 'object')],
  [
    /^a non-existent string flag with key "(.*)" is evaluated with details and a fallback value "(.*)"$/,
    ask(() => 'string'),
  ],
  [
    /^a string flag with key "(.*)" is evaluated as an integer, with details and a fallback value (\S+)$/,
    ask(() => 'integer'),
  ],
  [/^a flag with key "(.*)" is evaluated with default value "(.*)"$/, ask(() => 'string')],
  [
    /^the resolved (?:boolean|string|integer|float) value should be "?([^"]*)"?$/,
    (w, [value]) => expect(w.details.value).toEqual(parsed(w.question.kind, value!)),
  ],
  [
    /^the resolved (?:boolean|string|integer|float) details value should be "?([^"]*?)"?, the variant should be "(.*)", and the reason should be "(.*)"$/,
    (w, [value, variant, reason]) =>
      expect([w.details.value, w.details.variant, w.details.reason]).toEqual([
        parsed(w.question.kind, value!),
        variant,
        reason,
      ]),
  ],
  [
    /^the resolved object (?:details )?value should be contain fields "(.*)", "(.*)", and "(.*)", with values "(.*)", "(.*)" and (\d+), respectively$/,
    (w, [first, second, third, ...values]) =>
      expect(w.details.value).toEqual({ [first!]: values[0] === 'true', [second!]: values[1], [third!]: +values[2]! }),
  ],
  [
    /^the variant should be "(.*)", and the reason should be "(.*)"$/,
    (w, [variant, reason]) => expect([w.details.variant, w.details.reason]).toEqual([variant, reason]),
  ],
  [
    /^context contains keys "(.*)", "(.*)", "(.*)", "(.*)" with values "(.*)", "(.*)", (\d+), "(.*)"$/,
    (w, values) =>
      setContext(w, usualLevel(w), {
        [values[0]!]: values[4]!,
        [values[1]!]: values[5]!,
        [values[2]!]: Number(values[6]),
        [values[3]!]: values[7] === 'true',
      }),
  ],
  [/^the resolved string response should be "(.*)"$/, (w, [value]) => expect(w.details.value).toBe(value)],
  [
    /^the resolved flag value is "(.*)" when the context is empty$/,
    async (w, [value]) => {
      await w.platform.reset()
      await w.platform.register('stable')
      expect((await w.platform.evaluate(w.question)).value).toBe(value)
    },
  ],
  [
    /^the default (?:string|integer) value should be returned$/,
    w => expect(w.details.value).toEqual(w.question.fallback),
  ],
  [
    /^the reason should indicate an error and the error code should indicate a (?:missing flag|type mismatch) with "(.*)"$/,
    (w, [code]) => expect([w.details.reason, w.details.errorCode]).toEqual(['ERROR', code]),
  ],
]

const fieldNames: Readonly<Record<string, string>> = {
  flag_key: 'flagKey',
  value: 'value',
  variant: 'variant',
  reason: 'reason',
  error_code: 'errorCode',
}

/** The context of an evaluation: of the invocation, or of the page. */
const usualLevel = ({ platform }: World): Level => ('Invocation' in platform.setContext ? 'Invocation' : 'API')

async function setContext({ platform }: World, level: Level, context: EvaluationContext): Promise<void> {
  const set = platform.setContext[level]
  if (set === undefined) throw new NotSupported(`The SDK for ${platform.name} has no context of the level ${level}.`)
  await set(context)
}

function question(kind: string, key: string, fallback: string): Question {
  const named = (kind[0]!.toUpperCase() + kind.slice(1)) as Kind
  return { kind: named, key, fallback: parsed(named, fallback) }
}

function parsed(kind: Kind, text: string): FlagValue {
  if (kind === 'Boolean') return text === 'true'
  if (kind === 'Integer' || kind === 'Float') return Number(text)
  if (kind === 'String') return text
  return text === '' ? null : JSON.parse(text.replaceAll('\\"', '"'))
}

function cell(kind: string, text: string): unknown {
  if (text === 'null') return undefined
  return kind === 'boolean' ? text === 'true' : text
}

const recorder = ({ stages }: World, hook: string): SyncHook => ({
  before: () => void stages.push({ stage: 'before', hook }),
  after: (_context, details) => void stages.push({ stage: 'after', hook, details }),
  error: () => void stages.push({ stage: 'error', hook }),
  finally: (_context, details) => void stages.push({ stage: 'finally', hook, details }),
})
