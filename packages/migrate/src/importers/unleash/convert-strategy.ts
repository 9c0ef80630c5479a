import { type Bucketing, inCohort } from '../../model/model.ts'
import { type JsonRecord, textOr } from '../document.ts'
import { all, any, type Expression, filter, never, person, type Rollout } from '../expression.ts'
import { isIpv4Range } from '../value-checks.ts'
import type { Verdict } from '../verdict.ts'
import { convertConstraints, propertyOf } from './constraints.ts'
import type { SourceStrategy } from './read-document.ts'

export interface StrategyContext {
  readonly verdict: Verdict
  readonly featureName: string
  readonly encoding: 'latin-1' | 'utf-8'
  /** Undefined when the document has no such segment; null when it cannot be imported. */
  readonly cohortOf: (segment: string) => string | null | undefined
}

/** The people that a strategy includes. */
export function convertStrategy(strategy: SourceStrategy, context: StrategyContext): Expression {
  const { verdict, cohortOf } = context
  const segments = strategy.segments.map((id): Expression => {
    const cohort = cohortOf(id)
    // Unleash's SDKs never enable a strategy with a segment that they do not know.
    if (cohort === undefined) return never
    if (cohort === null)
      return verdict.refuse(`The segment ${id} is not imported; see its reason.`, `${strategy.path}.segments`)
    return filter(inCohort(cohort))
  })
  const constraints = convertConstraints(strategy.constraints, `${strategy.path}.constraints`, verdict)
  return all([constraints, ...segments, audienceOf(strategy, context)])
}

function audienceOf({ name, parameters, path }: SourceStrategy, context: StrategyContext): Expression {
  const { verdict } = context
  switch (name) {
    case 'default':
      return all([])
    case 'flexibleRollout':
      return flexibleRollout(parameters, `${path}.parameters`, context)
    case 'gradualRolloutUserId':
      return rollout(parameters.percentage, bucketingBy('userId', parameters, context))
    case 'gradualRolloutSessionId':
      return rollout(parameters.percentage, bucketingBy('sessionId', parameters, context))
    case 'gradualRolloutRandom':
      verdict.differs(
        'Unleash draws again for each call; here everyone keeps their result. Choose a stickiness to have the same there.',
        path,
      )
      return rollout(parameters.percentage, bucketingBy('userId', { groupId: context.featureName }, context))
    case 'userWithId':
      return person('distinct_id', 'text_equals', listIn(parameters.userIds))
    case 'remoteAddress':
      return remoteAddress(listIn(parameters.IPs))
    case 'applicationHostname':
      return verdict.refuse(
        'The host name of the application is not known here; send it as a property and constrain that.',
        `${path}.name`,
      )
    default:
      return verdict.refuse(
        `The custom strategy "${name.slice(0, 60)}" is not known here; replace it by constraints.`,
        `${path}.name`,
      )
  }
}

/** Unleash trims around the commas only, not at the ends of the list. */
function listIn(value: unknown): string[] {
  if (typeof value !== 'string' || value === '') return []
  const items = value.split(',')
  return items.map((item, index) => {
    const start = index === 0 ? item : item.trimStart()
    return index === items.length - 1 ? start : start.trimEnd()
  })
}

/** The strategy knows IPv4 ranges; anything else must be the same text. */
function remoteAddress(ranges: readonly string[]): Expression {
  const addresses = ranges.filter(isIpv4Range)
  return any([
    person('remoteAddress', 'text_equals', ranges),
    ...(addresses.length > 0 ? [person('remoteAddress', 'ip_in_cidr', addresses)] : []),
  ])
}

function flexibleRollout(parameters: JsonRecord, path: string, context: StrategyContext): Expression {
  const stickiness = textOr(parameters.stickiness, '') || 'default'
  if (stickiness === 'random') {
    context.verdict.differs(
      'Unleash draws again for each call; here everyone keeps their result. Choose a stickiness to have the same there.',
      `${path}.stickiness`,
    )
  }
  // Only by a field that a person may lack can 100 percent leave someone out.
  const isForAll = Number(parameters.rollout) >= 100 && (stickiness === 'default' || stickiness === 'random')
  return isForAll ? all([]) : rollout(parameters.rollout, bucketingBy(stickiness, parameters, context))
}

export function bucketingBy(
  stickiness: string,
  { groupId }: JsonRecord,
  { encoding }: Pick<StrategyContext, 'encoding'>,
): Bucketing {
  const by = stickiness === 'default' || stickiness === 'random' ? 'distinct_id' : propertyOf(stickiness)
  const seed = groupId === undefined || groupId === null ? '' : String(groupId)
  return { algorithm: 'unleash', seed, encoding, ...(by !== 'distinct_id' && { by }) }
}

function rollout(value: unknown, bucketing: Bucketing): Expression {
  const parsed = Number(value)
  const percentage = Number.isNaN(parsed) ? 0 : Math.min(Math.max(parsed, 0), 100)
  const part: Rollout = { percentage, bucketing }
  return { kind: 'rollout', rollout: part }
}
