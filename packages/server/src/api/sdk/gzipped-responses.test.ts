import { compile, type FlagDefinition } from '@halyard/engine'
import { expect, it } from 'vitest'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import { gzipRest } from '../../http/server/gzip-join.ts'
import { type EvaluationUrl, evaluationUrl } from './evaluation-url.ts'
import { createGzippedResponses } from './gzipped-responses.ts'

function projectWith(flagCount: number): ServedProject {
  const flags = Array.from({ length: flagCount }, (_, index): FlagDefinition => {
    const filters = { groups: [{ properties: [], rollout_percentage: 50 }] }
    return { id: index + 1, key: `flag-${index}`, active: true, filters }
  })
  const definitions = { flags, cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 as const }
  return { snapshot: compile(definitions, { regex: linearRegex }) } as unknown as ServedProject
}

const usual = evaluationUrl('flags', { v: '2' })

function createCalls(cachedBytesMax?: number) {
  const responses = createGzippedResponses(cachedBytesMax)
  let compressed = 0
  return {
    compressed: () => compressed,
    get(
      served: ServedProject,
      distinctId: string,
      more: { url?: EvaluationUrl; eligible?: number[]; hasKeys?: boolean } = {},
    ) {
      const { url = usual, eligible = served.snapshot.flags.map((_, index) => index), hasKeys = false } = more
      const subject = { distinctId }
      const outcomes = served.snapshot.evaluate(subject, { now: 0 })
      const evaluation = { eligible, outcomes, subject, isIncomplete: false }
      return responses.get(url, { served, evaluation, hasKeys }, () => {
        compressed += 1
        return gzipRest(Buffer.from(`${compressed}`), {})
      })
    },
  }
}

it('compresses once for people with the same values', () => {
  const served = projectWith(1)
  const { compressed, get } = createCalls()
  for (let person = 0; person < 100; person++) get(served, `person-${person}`)
  expect(compressed()).toBe(2)
})

it('keeps versions of a project, shapes of responses and lists of flags apart', () => {
  const served = projectWith(3)
  const { compressed, get } = createCalls()
  const others = [
    () => get(served, 'ann'),
    () => get(projectWith(3), 'ann'),
    () => get(served, 'ann', { url: evaluationUrl('flags', { v: '1' }) }),
    () => get(served, 'ann', { url: evaluationUrl('flags', { v: '2', config: 'true' }) }),
    () => get(served, 'ann', { hasKeys: true }),
    () => get(served, 'ann', { eligible: [0, 2] }),
    () => get(served, 'ann', { eligible: [0] }),
  ]
  expect(new Set(others.map(other => other()!.crc)).size).toBe(others.length)
  expect(compressed()).toBe(others.length)
})

it('keeps no more than its limit', () => {
  const served = projectWith(12)
  const { compressed, get } = createCalls(2000)
  for (let person = 0; person < 100; person++) get(served, `person-${person}`)
  const before = compressed()
  get(served, 'person-0')
  expect(compressed()).toBe(before + 1)
})
