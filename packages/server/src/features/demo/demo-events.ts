import { inParts } from '../../storage/in-batches.ts'
import { demoCompanies, demoPeople } from './demo-content.ts'
import { demoAnswers } from './demo-story.ts'

const eventsAtOnceMax = 500
const daysOfUsage = 30
const dayMilliseconds = 24 * 60 * 60 * 1000

/** People, companies and orders. */
export const profileBatches = (): unknown[][] => batches([...peopleEvents(), ...companyEvents(), ...orderEvents()])

/** A month of evaluations until now. */
export const usageBatches = (now: Date): unknown[][] =>
  batches(Object.entries(demoAnswers).flatMap(([key, answers]) => usageEvents(key, answers, now)))

const batches = (events: unknown[]): unknown[][] => [...inParts(events, eventsAtOnceMax)].map(part => [...part])

const peopleEvents = (): unknown[] =>
  demoPeople.map(({ distinctId, properties, company }) => ({
    event: '$identify',
    distinct_id: distinctId,
    properties: { $set: properties, $groups: { company } },
  }))

const companyEvents = (): unknown[] =>
  demoCompanies.map(({ key, properties }) => ({
    event: '$groupidentify',
    distinct_id: demoPeople[0]?.distinctId,
    properties: { $group_type: 'company', $group_key: key, $group_set: properties },
  }))

const orderEvents = (): unknown[] =>
  demoPeople.slice(0, 40).map(({ distinctId }, index) => ({
    event: 'order placed',
    distinct_id: distinctId,
    properties: { items: (index * 7) % 30 },
  }))

/** A month of calls that grow from day to day, with quieter weekends. */
function usageEvents(key: string, answers: Readonly<Record<string, number>>, now: Date): unknown[] {
  const weighted = Object.entries(answers).flatMap(([answer, weight]) => Array<string>(weight ?? 0).fill(answer))
  if (weighted.length === 0) return []
  return Array.from({ length: daysOfUsage }, (_, index) => {
    const day = new Date(now.getTime() - (daysOfUsage - 1 - index) * dayMilliseconds)
    const isWeekend = day.getUTCDay() % 6 === 0
    const calls = Math.round((8 + index) * (isWeekend ? 0.5 : 1))
    return Array.from({ length: calls }, (_call, call) => {
      const answer = weighted[(call * 7 + index) % weighted.length] ?? 'false'
      return {
        event: '$feature_flag_called',
        distinct_id: demoPeople[(call * 11 + index * 3) % demoPeople.length]?.distinctId,
        timestamp: day.toISOString(),
        properties: {
          $feature_flag: key,
          $feature_flag_response: answer === 'true' ? true : answer === 'false' ? false : answer,
        },
      }
    })
  }).flat()
}
