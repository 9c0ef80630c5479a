import type { Converter, ImportedFlag, ImportItem } from '../../model/model.ts'
import { refuseDependents } from '../../model/refuse-dependents.ts'
import { isRecord, type JsonRecord, listOf, requireRecord, textOr } from '../document.ts'
import { always, type Expression } from '../expression.ts'
import { compareVariants, type FlagValues, filtersOf, type Rule } from '../rules.ts'
import { judge, type Verdict } from '../verdict.ts'
import { convertQuery } from './query.ts'

/** The file of flags, as JSON. */
export const convertGoFeatureFlag: Converter = document => {
  const root = requireRecord(document, '', 'The document')
  const flags: ImportedFlag[] = []
  const items: ImportItem[] = []
  for (const [key, value] of Object.entries(root)) {
    const flag = requireRecord(value, key, 'A flag')
    const { item, result } = judge({ kind: 'flag', sourceKey: key, sourceId: key }, verdict =>
      convertFlag(key, flag, verdict),
    )
    items.push(item)
    if (result !== undefined) flags.push(result)
  }
  return refuseDependents({ source: 'go-feature-flag', environment: null, flags, cohorts: [], items })
}

const timed = ['scheduledRollout', 'experimentation'] as const

function convertFlag(key: string, flag: JsonRecord, verdict: Verdict): ImportedFlag {
  for (const name of timed) {
    if (flag[name] !== undefined)
      return verdict.refuse(`\`${name}\` is not imported; finish it first, or use a schedule here.`, `${key}.${name}`)
  }
  if (!isRecord(flag.variations)) return verdict.refuse('`variations` must be an object.', `${key}.variations`)
  const names = Object.keys(flag.variations)
  const values: FlagValues = { values: Object.entries(flag.variations).map(([name, value]) => ({ name, value })) }
  const context = { key, names, verdict, by: textOr(flag.bucketingKey, '') }
  const targeting = listOf(flag.targeting).flatMap((value, index): Rule[] => {
    const path = `${key}.targeting[${index}]`
    const rule = requireRecord(value, path, 'A rule')
    return rule.disable === true ? [] : rulesOf(rule, whenOf(rule, path, verdict), path, context)
  })
  if (!isRecord(flag.defaultRule)) return verdict.refuse('The flag has no default rule; add one.', `${key}.defaultRule`)
  const rules = [...targeting, ...rulesOf(flag.defaultRule, always, `${key}.defaultRule`, context)]
  compareVariants(values, `${key}.variations`, verdict)
  const { description } = isRecord(flag.metadata) ? flag.metadata : {}
  return {
    sourceId: key,
    key,
    name: textOr(description, ''),
    active: flag.disable !== true,
    filters: filtersOf(values, rules, verdict),
    tags: [],
    archived: false,
  }
}

function whenOf(rule: JsonRecord, path: string, verdict: Verdict): Expression {
  const query = textOr(rule.query, '').trim()
  if (query === '') return always
  if (query.startsWith('{'))
    return verdict.refuse(
      'Queries in JsonLogic are not read; write the query in the syntax of the rule engine.',
      `${path}.query`,
    )
  return convertQuery(query, `${path}.query`, verdict)
}

interface RuleContext {
  readonly key: string
  readonly names: readonly string[]
  readonly verdict: Verdict
  readonly by: string
}

function rulesOf(rule: JsonRecord, when: Expression, path: string, { key, names, verdict, by }: RuleContext): Rule[] {
  const indexOf = (name: string): number => {
    const index = names.indexOf(name)
    return index === -1 ? verdict.refuse(`There is no variation "${name}".`, path) : index
  }
  if (rule.progressiveRollout !== undefined) {
    return verdict.refuse(
      'A progressive rollout is not imported; finish it first, or use a schedule here.',
      `${path}.progressiveRollout`,
    )
  }
  if (isRecord(rule.percentage) && Object.keys(rule.percentage).length > 0) {
    // Variations are hashed in the reverse order of their names.
    const parts = Object.entries(rule.percentage)
      .sort(([left], [right]) => (left < right ? 1 : -1))
      .map(([name, weight]) => ({ result: indexOf(name), weight: Number(weight) || 0 }))
    const bucketing = { algorithm: 'go_feature_flag', seed: key, ...(by !== '' && { by }) }
    return [{ when, serve: { bucketing, parts }, path }]
  }
  if (typeof rule.variation !== 'string') return verdict.refuse('The rule serves no variation.', path)
  return [{ when, serve: indexOf(rule.variation), path }]
}
