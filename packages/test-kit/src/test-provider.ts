import type { EvaluationContext } from '@halyard/client'
import type { JsonValue, EvaluationContext as OpenFeatureContext, ResolutionDetails } from '@openfeature/core'
import type { TestFlags } from './test-flags.ts'

type Kind = 'boolean' | 'string' | 'number' | 'object'

/** A provider for either OpenFeature SDK. Values are returned at once, also to the SDK that awaits them. */
export interface TestProvider<Runs extends 'server' | 'client', Result> {
  readonly metadata: { readonly name: 'halyard-test' }
  readonly runsOn: Runs
  resolveBooleanEvaluation(key: string, fallback: boolean, context: OpenFeatureContext): Wrapped<Result, boolean>
  resolveStringEvaluation(key: string, fallback: string, context: OpenFeatureContext): Wrapped<Result, string>
  resolveNumberEvaluation(key: string, fallback: number, context: OpenFeatureContext): Wrapped<Result, number>
  resolveObjectEvaluation<T extends JsonValue>(
    key: string,
    fallback: T,
    context: OpenFeatureContext,
  ): Wrapped<Result, T>
}

type Wrapped<Result, T> = Result extends 'promise' ? Promise<ResolutionDetails<T>> : ResolutionDetails<T>

/** For `@openfeature/server-sdk`. */
export const serverTestProvider = (flags: TestFlags): TestProvider<'server', 'promise'> =>
  provider(flags, 'server', details => Promise.resolve(details)) as TestProvider<'server', 'promise'>

/** For `@openfeature/web-sdk` and `@openfeature/react-sdk`. */
export const webTestProvider = (flags: TestFlags): TestProvider<'client', 'value'> =>
  provider(flags, 'client', details => details) as TestProvider<'client', 'value'>

function provider(
  flags: TestFlags,
  runsOn: 'server' | 'client',
  wrap: (details: ResolutionDetails<unknown>) => unknown,
) {
  const resolve = (kind: Kind) => (key: string, fallback: unknown, context: OpenFeatureContext) =>
    wrap(resolution(flags, kind, key, fallback, context))
  return {
    metadata: { name: 'halyard-test' },
    runsOn,
    resolveBooleanEvaluation: resolve('boolean'),
    resolveStringEvaluation: resolve('string'),
    resolveNumberEvaluation: resolve('number'),
    resolveObjectEvaluation: resolve('object'),
  }
}

function resolution(
  flags: TestFlags,
  kind: Kind,
  key: string,
  fallback: unknown,
  context: OpenFeatureContext,
): ResolutionDetails<unknown> {
  const { isKnown, value, payload, variant, reason } = flags.evaluate(key, subjectOf(context))
  if (!isKnown) return failure(fallback, 'FLAG_NOT_FOUND', `There is no flag "${key}" in this test.`)
  if (reason === 'ERROR') return failure(fallback, 'GENERAL', `The flag "${key}" cannot be evaluated in a test.`)
  const matching = [value, payload].find(each => kindOf(each) === kind)
  const details = { reason, ...(variant !== undefined && { variant }) }
  if (matching !== undefined) return { value: matching, ...details }
  if (value === undefined) return { value: fallback, ...details }
  return failure(fallback, 'TYPE_MISMATCH', `The flag "${key}" has no value of the type ${kind}.`)
}

const failure = (value: unknown, errorCode: string, errorMessage: string): ResolutionDetails<unknown> => ({
  value,
  reason: 'ERROR',
  errorCode: errorCode as NonNullable<ResolutionDetails<unknown>['errorCode']>,
  errorMessage,
})

function kindOf(value: unknown): Kind | undefined {
  if (typeof value === 'object' && value !== null) return 'object'
  return typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number'
    ? (typeof value as Kind)
    : undefined
}

/** As in Halyard's providers: everything but the targeting key and groups describes the person. */
function subjectOf({ targetingKey = 'test', groups, groupProperties, ...personProperties }: OpenFeatureContext) {
  return {
    distinctId: targetingKey,
    personProperties,
    ...(typeof groups === 'object' && groups !== null && { groups }),
    ...(typeof groupProperties === 'object' && groupProperties !== null && { groupProperties }),
  } as EvaluationContext
}
