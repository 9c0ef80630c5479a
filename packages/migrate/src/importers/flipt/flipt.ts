import {
  type Converter,
  type ImportedCohort,
  type ImportedFlag,
  ImportFileError,
  type ImportItem,
  inCohort,
} from '../../model/model.ts'
import { refuseDependents } from '../../model/refuse-dependents.ts'
import { isRecord, type JsonRecord, listOf, requireList, requireRecord, requireText, textOr } from '../document.ts'
import { all, always, any, cohortTreeOf, type Expression, filter } from '../expression.ts'
import { filtersOf, type Result, type Rule } from '../rules.ts'
import { judge, type Verdict } from '../verdict.ts'
import { convertConstraint } from './constraints.ts'

interface Context {
  readonly verdict: Verdict
  readonly segments: ReadonlyMap<string, ImportItem>
}

/** The features document of an export, as JSON. */
export const convertFlipt: Converter = document => {
  const root = requireRecord(document, '', 'The document')
  if (!Array.isArray(root.flags)) throw new ImportFileError('`flags` must be an array.', 'flags')
  const segments = new Map<string, ImportItem>()
  const cohorts: ImportedCohort[] = []
  for (const [index, value] of requireList(root.segments, 'segments', '`segments`').entries()) {
    const path = `segments[${index}]`
    const segment = requireRecord(value, path, 'A segment')
    const key = requireText(segment.key, `${path}.key`, '`key`')
    const sourceId = `segment:${key}`
    const { item, result } = judge({ kind: 'segment', sourceKey: key, sourceId }, verdict =>
      cohortTreeOf(convertSegment(segment, path, verdict), verdict, path),
    )
    segments.set(key, item)
    const name = textOr(segment.name, '') || key
    if (result !== undefined) cohorts.push({ sourceId, name, content: { filters: { properties: result } } })
  }
  const flags: ImportedFlag[] = []
  const items = [...segments.values()]
  for (const [index, value] of root.flags.entries()) {
    const path = `flags[${index}]`
    const flag = requireRecord(value, path, 'A flag')
    const key = requireText(flag.key, `${path}.key`, '`key`')
    const { item, result } = judge({ kind: 'flag', sourceKey: key, sourceId: key }, verdict =>
      convertFlag(key, flag, path, { verdict, segments }),
    )
    items.push(item)
    if (result !== undefined) flags.push(result)
  }
  return refuseDependents({ source: 'flipt', environment: null, flags, cohorts, items })
}

function convertSegment(segment: JsonRecord, path: string, verdict: Verdict): Expression {
  const constraints = listOf(segment.constraints).map((constraint, index) =>
    convertConstraint(constraint, `${path}.constraints[${index}]`, verdict),
  )
  if (constraints.length === 0) return always
  return segment.match_type === 'ANY_MATCH_TYPE' ? any(constraints) : all(constraints)
}

/** One key, or several with an operator; also the older `keys` beside an operator. */
function inSegments(holder: JsonRecord, path: string, { segments, verdict }: Context): Expression {
  const named = isRecord(holder.segment) ? holder.segment : holder
  const single = typeof holder.segment === 'string' ? holder.segment : named.key
  const keys = typeof single === 'string' ? [single] : listOf(named.keys ?? holder.segments).map(String)
  if (keys.length === 0) return verdict.refuse('The rule names no segment.', path)
  const members = keys.map((key): Expression => {
    const item = segments.get(key)
    if (item === undefined) return verdict.refuse(`There is no segment "${key}" in the file; add it.`, path)
    if (item.status === 'refused') return verdict.refuse(`The segment "${key}" is not imported; see its reason.`, path)
    return filter(inCohort(item.sourceId))
  })
  const operator = textOr(named.operator ?? holder.operator ?? holder.segment_operator, 'OR_SEGMENT_OPERATOR')
  return operator === 'AND_SEGMENT_OPERATOR' ? all(members) : any(members)
}

function convertFlag(key: string, flag: JsonRecord, path: string, context: Context): ImportedFlag {
  const isBoolean = flag.type === 'BOOLEAN_FLAG_TYPE'
  const converted = isBoolean ? convertBoolean(key, flag, path, context) : convertVariant(key, flag, path, context)
  return {
    sourceId: key,
    key,
    name: textOr(flag.description, '') || textOr(flag.name, ''),
    tags: [],
    archived: false,
    ...converted,
  }
}

type Converted = Pick<ImportedFlag, 'active' | 'filters'>

/** `enabled` is the value when no rollout matches. */
function convertBoolean(key: string, flag: JsonRecord, path: string, context: Context): Converted {
  const { verdict } = context
  const rules = listOf(flag.rollouts).map((value, index): Rule => {
    const at = `${path}.rollouts[${index}]`
    const rollout = requireRecord(value, at, 'A rollout')
    if (isRecord(rollout.threshold)) {
      const percentage = Math.min(Math.max(Number(rollout.threshold.percentage) || 0, 0), 100)
      const bucketing = { algorithm: 'flipt', seed: key }
      return {
        path: at,
        when: { kind: 'rollout', rollout: { percentage, bucketing } },
        serve: rollout.threshold.value === true ? 'on' : 'off',
      }
    }
    if (!isRecord(rollout.segment)) return verdict.refuse('The rollout has neither a threshold nor a segment.', at)
    return {
      path: at,
      when: inSegments(rollout.segment, at, context),
      serve: rollout.segment.value === true ? 'on' : 'off',
    }
  })
  const otherwise: Rule = { path, when: always, serve: flag.enabled === true ? 'on' : 'off' }
  return { active: true, filters: filtersOf({ values: [] }, [...rules, otherwise], verdict) }
}

function convertVariant(key: string, flag: JsonRecord, path: string, context: Context): Converted {
  const { verdict } = context
  const variants = listOf(flag.variants).filter(isRecord)
  const keys = variants.map(variant => textOr(variant.key, ''))
  const indexOf = (variant: unknown, at: string): number => {
    const index = keys.indexOf(String(variant))
    return index === -1 ? verdict.refuse(`There is no variant "${String(variant)}".`, at) : index
  }
  const defaultIndex = variants.findIndex(variant => variant.default === true)
  const fallback: Result = defaultIndex === -1 ? 'off' : defaultIndex
  const rules = listOf(flag.rules).map((value, index): Rule => {
    const at = `${path}.rules[${index}]`
    const rule = requireRecord(value, at, 'A rule')
    const parts = listOf(rule.distributions)
      .filter(isRecord)
      .map((part, place) => ({
        result: indexOf(part.variant, `${at}.distributions[${place}].variant`),
        weight: Math.max(0, Number(part.rollout) || 0),
      }))
    const isSplit = parts.some(({ weight }) => weight > 0)
    const serve = isSplit
      ? { bucketing: { algorithm: 'flipt', seed: key }, parts }
      : defaultIndex === -1
        ? 'on'
        : defaultIndex
    return { path: at, when: inSegments(rule, at, context), serve }
  })
  const isEnabled = flag.enabled === true
  const all = [...(isEnabled ? rules : []), { path, when: always, serve: fallback }]
  const filters = filtersOf({ values: keys.map(value => ({ value })) }, all, verdict)
  const payloads = Object.fromEntries(
    variants.flatMap(({ key: name, attachment }) => (attachment ? [[String(name), attachmentText(attachment)]] : [])),
  )
  return { active: isEnabled || defaultIndex !== -1, filters: keys.length > 0 ? { ...filters, payloads } : filters }
}

function attachmentText(attachment: unknown): string {
  if (typeof attachment !== 'string') return JSON.stringify(attachment)
  try {
    return JSON.stringify(JSON.parse(attachment))
  } catch {
    return JSON.stringify(attachment)
  }
}
