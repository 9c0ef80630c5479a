import {
  type Bucketing,
  type Converter,
  type ImportedFlag,
  ImportFileError,
  type ImportItem,
} from '../../model/model.ts'
import { refuseDependents } from '../../model/refuse-dependents.ts'
import { isRecord, type JsonRecord, requireRecord } from '../document.ts'
import { all, always, type Expression, person } from '../expression.ts'
import { compareVariants, type FlagValues, filtersOf, type Result, type Rule } from '../rules.ts'
import { judge, type Verdict } from '../verdict.ts'
import { booleanOperations, convertLogic, operationOf, variableOf } from './json-logic.ts'

interface Context {
  readonly verdict: Verdict
  readonly key: string
  readonly encoding: 'utf-16' | 'utf-8'
  readonly flagdVersion: string | undefined
  /** The result for the name of a variant. */
  readonly resultOf: (variant: string, path: string) => Result
  readonly defaultResult: Result
}

export const convertFlagd: Converter = (document, { clientLanguage, flagdVersion }) => {
  const root = requireRecord(document, '', 'The document')
  if (!isRecord(root.flags)) throw new ImportFileError('`flags` must be an object.', 'flags')
  const evaluators = isRecord(root.$evaluators) ? root.$evaluators : {}
  const flags: ImportedFlag[] = []
  const items: ImportItem[] = []
  for (const [key, value] of Object.entries(root.flags)) {
    const path = `flags.${key}`
    const flag = requireRecord(value, path, 'A flag')
    const { item, result } = judge({ kind: 'flag', sourceKey: key, sourceId: key }, verdict =>
      convertFlag(key, flag, path, evaluators, {
        verdict,
        flagdVersion,
        encoding: clientLanguage === 'utf-8' ? 'utf-8' : 'utf-16',
      }),
    )
    items.push(item)
    if (result !== undefined) flags.push(result)
  }
  return refuseDependents({ source: 'flagd', environment: null, flags, cohorts: [], items })
}

function convertFlag(
  key: string,
  flag: JsonRecord,
  path: string,
  evaluators: JsonRecord,
  options: Pick<Context, 'verdict' | 'encoding' | 'flagdVersion'>,
): ImportedFlag {
  const { verdict } = options
  if (!isRecord(flag.variants)) return verdict.refuse('`variants` must be an object.', `${path}.variants`)
  const names = Object.keys(flag.variants)
  const values: FlagValues = { values: Object.entries(flag.variants).map(([name, value]) => ({ name, value })) }
  const resultOf = (variant: string, at: string): Result => {
    const index = names.indexOf(variant)
    return index === -1 ? verdict.refuse(`There is no variant "${variant}".`, at) : index
  }
  const { defaultVariant } = flag
  const hasDefault = typeof defaultVariant === 'string' && defaultVariant !== ''
  const defaultResult = hasDefault ? resultOf(defaultVariant, `${path}.defaultVariant`) : 'off'
  const isBoolean = values.values.every(({ value }) => typeof value === 'boolean')
  if (!hasDefault && isBoolean) {
    const message =
      'Without a default variant flagd leaves the value to the code; here the flag is off. Add a default variant.'
    verdict.differs(message, `${path}.defaultVariant`)
  }
  const hasTargeting = isRecord(flag.targeting) && Object.keys(flag.targeting).length > 0
  const targeting = hasTargeting ? resolveReferences(flag.targeting, evaluators, verdict, `${path}.targeting`, 0) : null
  const rules = convertTargeting(targeting, `${path}.targeting`, always, { ...options, key, resultOf, defaultResult })
  compareVariants(values, `${path}.variants`, verdict)
  const { description } = isRecord(flag.metadata) ? flag.metadata : {}
  return {
    sourceId: key,
    key,
    name: typeof description === 'string' ? description : '',
    active: flag.state === 'ENABLED',
    filters: filtersOf(values, rules, verdict),
    tags: [],
    archived: false,
  }
}

const referenceDepthMax = 20

function resolveReferences(
  value: unknown,
  evaluators: JsonRecord,
  verdict: Verdict,
  path: string,
  depth: number,
): unknown {
  if (depth > referenceDepthMax * 5) return verdict.refuse('The targeting is nested too deeply.', path)
  const inner = (item: unknown) => resolveReferences(item, evaluators, verdict, path, depth + 1)
  if (Array.isArray(value)) return value.map(inner)
  if (!isRecord(value)) return value
  if (typeof value.$ref === 'string') {
    if (!Object.hasOwn(evaluators, value.$ref))
      return verdict.refuse(`There is no evaluator "${value.$ref}" in the file; add it.`, path)
    return inner(evaluators[value.$ref])
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)]))
}

/** Rules that decide for everyone who matches `when`. */
function convertTargeting(value: unknown, path: string, when: Expression, context: Context): Rule[] {
  const { verdict, resultOf, defaultResult } = context
  const served = (serve: Rule['serve']): Rule => ({ when, serve, path })
  if (value === null || value === undefined) return [served(defaultResult)]
  if (typeof value !== 'object') return [served(resultOf(String(value), path))]
  const operation = operationOf(value)
  if (operation === undefined)
    return verdict.refuse('This targeting cannot be written; use `if` or `fractional`.', path)
  const [name, operands] = operation
  if (name === 'if') return convertIf(operands, `${path}.if`, when, context)
  if (name === 'fractional')
    return [...fractional(operands, `${path}.fractional`, when, context), served(defaultResult)]
  if (!booleanOperations.has(name)) {
    return verdict.refuse(
      `The result of "${name.slice(0, 40)}" cannot be a variant; use it as the condition of \`if\`.`,
      path,
    )
  }
  return [
    { when: all([when, convertLogic(value, path, context)]), serve: resultOf('true', path), path },
    served(resultOf('false', path)),
  ]
}

/** Condition, result, condition, result, and so on; the last one without a condition is for everyone else. */
function convertIf(operands: unknown, path: string, when: Expression, context: Context): Rule[] {
  if (!Array.isArray(operands) || operands.length < 2) {
    return context.verdict.refuse('An `if` needs a condition and a result.', path)
  }
  const rules: Rule[] = []
  for (let at = 0; at + 1 < operands.length; at += 2) {
    const condition = convertLogic(operands[at], `${path}[${at}]`, context)
    rules.push(...convertTargeting(operands[at + 1], `${path}[${at + 1}]`, all([when, condition]), context))
  }
  const last = operands.length - 1
  const otherwise = operands.length % 2 === 1 ? operands[last] : null
  return [...rules, ...convertTargeting(otherwise, `${path}[${last}]`, when, context)]
}

/** The hash is the same from the first of these versions up to the newest one that was compared. */
const firstScaledVersion = [0, 15, 0]
const newestVerifiedVersion = [0, 16, 1]

function fractional(operands: unknown, path: string, when: Expression, context: Context): Rule[] {
  const { verdict } = context
  requireScaledHash(path, context)
  if (!Array.isArray(operands) || operands.length === 0) return verdict.refuse('`fractional` needs buckets.', path)
  const hasBucketBy = !Array.isArray(operands[0])
  const { bucketing, included } = hasBucketBy
    ? bucketBy(operands[0], `${path}[0]`, context)
    : { bucketing: bucketingOf(context.key, 'distinct_id', context), included: always }
  const parts = operands.slice(hasBucketBy ? 1 : 0).map((bucket, index) => {
    const at = `${path}[${index + (hasBucketBy ? 1 : 0)}]`
    const [variant, weight = 1] = Array.isArray(bucket) ? (bucket as unknown[]) : []
    const isBucket = Array.isArray(bucket) && bucket.length > 0 && bucket.length <= 2
    if (!isBucket || (typeof variant === 'object' && variant !== null)) {
      return verdict.refuse('A bucket must be a variant and a weight.', at)
    }
    if (!Number.isInteger(weight)) return verdict.refuse('The weight of a bucket must be a whole number.', at)
    const result =
      variant === null || variant === undefined ? context.defaultResult : context.resultOf(String(variant), at)
    return { result, weight: Math.max(0, weight as number) }
  })
  if (!parts.some(({ weight }) => weight > 0)) return []
  const rule: Rule = { when: all([when, included]), serve: { bucketing, parts }, path }
  if (bucketing.by === undefined || bucketing.seed !== '') return [rule]
  // The hash of empty text is 0, which is in the first bucket.
  const empty = all([when, person(bucketing.by, 'json_one_of', [''])])
  return [{ when: empty, serve: parts.find(({ weight }) => weight > 0)!.result, path }, rule]
}

/** The hash changed with that version. */
function requireScaledHash(path: string, { flagdVersion, verdict }: Context): void {
  if (flagdVersion === undefined) {
    verdict.refuse(
      '`fractional` differs between versions of flagd; name yours with --flagd-version (`flagd_version`).',
      path,
    )
    return
  }
  const numbers = /^v?(\d+)\.(\d+)\.(\d+)/.exec(flagdVersion)?.slice(1).map(Number) ?? []
  if (numbers.length === 0) verdict.refuse(`"${flagdVersion}" is not a version of flagd; use one such as 0.15.0.`, path)
  if (isBefore(numbers, firstScaledVersion))
    verdict.refuse('`fractional` of flagd before 0.15.0 hashes otherwise; upgrade flagd first.', path)
  if (isBefore(newestVerifiedVersion, numbers)) {
    const newest = newestVerifiedVersion.join('.')
    verdict.differs(
      `\`fractional\` was compared up to flagd ${newest}, not with ${flagdVersion}; use --prove or that version.`,
      path,
    )
  }
}

/** By their numbers. */
function isBefore(version: readonly number[], other: readonly number[]): boolean {
  const at = version.findIndex((number, index) => number !== other[index])
  return at !== -1 && version[at]! < other[at]!
}

function bucketingOf(seed: string, by: string, { encoding }: Context): Bucketing {
  return { algorithm: 'flagd', seed, encoding, ...(by !== 'distinct_id' && { by }) }
}

/** A property, or the flag's key followed by one. Other values than text are not hashed. */
function bucketBy(value: unknown, path: string, context: Context) {
  const { verdict } = context
  const single = variableOf(value, path, context)
  if (single !== undefined) {
    if (single !== 'distinct_id') {
      verdict.differs(`flagd reads a list in "${single}" as another bucket; send it as text.`, path)
    }
    return { bucketing: bucketingOf('', single, context), included: person(single, 'type_is', 'string') }
  }
  const operation = operationOf(value)
  const parts = operation?.[0] === 'cat' && Array.isArray(operation[1]) ? (operation[1] as unknown[]) : []
  const texts = parts.map(part => {
    if (typeof part === 'string') return part
    return operationOf(part)?.[1] === '$flagd.flagKey' ? context.key : undefined
  })
  const last = parts.length === 0 || texts.slice(0, -1).includes(undefined) ? undefined : parts.at(-1)
  const by = variableOf(last, path, context)
  if (by === undefined)
    return verdict.refuse('People can be bucketed by one property only; send the combination as a property.', path)
  verdict.differs(
    `flagd puts everyone without "${by}" into one bucket; here they get the default variant. Send it always.`,
    path,
  )
  return { bucketing: bucketingOf(texts.slice(0, -1).join(''), by, context), included: always }
}
