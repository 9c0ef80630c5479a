import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import {
  estimateProgramSize,
  evaluationStepsMax,
  inputLengthMax,
  patternLengthMax,
  programSizeMax,
  programSizeSumMax,
} from '../../definition/regex-limits.ts'
import { checkFlag, compile, type Definitions, type FlagDefinition, type Matcher } from '../../index.ts'

const now = 0
/** The steps that matchers have been allowed to take. */
let steps = 0

const countingRegex = (pattern: string): Matcher => {
  const compiled = RE2JS.compile(pattern)
  const size = compiled.programSize()
  return {
    size,
    test: text => {
      steps += size * (text.length + 1)
      return compiled.matcher(text).find()
    },
  }
}
const options = { regex: countingRegex }

const filter = (value: string, operator = 'regex') => ({ key: 'text', type: 'person', operator, value })
const flag = (id: number, ...properties: object[]): FlagDefinition => ({
  id,
  key: `flag-${id}`,
  active: true,
  filters: { groups: [{ properties, rollout_percentage: 100 }] },
})
const definitions = (flags: readonly FlagDefinition[]): Definitions => ({
  flags,
  cohorts: [],
  groupTypes: {},
  propertyMatchingVersion: 2,
})
const subject = (text: unknown) => ({ distinctId: 'a', personProperties: { text } })

/** Patterns that made one evaluation take seconds. */
const hostile = ['[\\p{L}\\p{N}]{900}$', '(?:[\\p{L}\\p{N}]?){300}$', '(a?){300}b$', '(?:[a-z]{1,3}){1,60}$']

describe('a pattern over the limits', () => {
  it('is rejected at save, and the message names the limit', () => {
    const issueOf = (pattern: string) => checkFlag(flag(1, filter(pattern)), definitions([]), options)[0]
    expect(issueOf('a'.repeat(patternLengthMax + 1))).toEqual({
      code: 'regex_too_large',
      path: 'filters.groups[0].properties[0].value',
      message: 'The regular expression has 1001 characters; the limit is 1000.',
    })
    expect(issueOf('a{999}b{999}')?.message).toBe(
      'The regular expression compiles to 2000 instructions; the limit is 1000. Use fewer repetitions.',
    )
    expect(issueOf('(?:x?){1000}'.repeat(80))?.code).toBe('regex_too_large')
    expect(issueOf('a'.repeat(programSizeMax - 10))).toBeUndefined()
  })

  it('is not compiled when its repetitions multiply far beyond the limit', () => {
    let compiled = 0
    const regex = (pattern: string) => {
      compiled++
      return countingRegex(pattern)
    }
    for (const pattern of ['a'.repeat(400_000), '((a{100}){100}){10}', '\\p{L}{900}'.repeat(90)]) {
      expect(checkFlag(flag(1, filter(pattern)), definitions([]), { regex })[0]?.code).toBe('regex_too_large')
    }
    expect(compiled).toBe(0)
  })

  it('is rejected when a flag has too many patterns together', () => {
    const count = programSizeSumMax / 500
    const some = (from: number, to: number) =>
      flag(1, ...Array.from({ length: to - from }, (_, index) => filter(`a{490}${from + index}`)))
    expect(checkFlag(some(0, count - 5), definitions([]), options)).toEqual([])
    const [issue] = checkFlag(some(0, count + 5), definitions([]), options)
    expect([issue?.code, issue?.path]).toEqual(['regex_too_large', 'filters'])
    expect(issue?.message).toContain('the limit is 20000')
  })

  it('does not keep a stored flag from loading: it never matches and is reported', () => {
    const tooLong = 'a'.repeat(patternLengthMax + 1)
    const flags = [flag(1, filter(tooLong)), flag(2, filter(tooLong, 'not_regex')), flag(3, filter('^a'))]
    const snapshot = compile(definitions(flags), options)
    const results = snapshot.evaluate(subject('a'.repeat(2000)), { now })
    expect(flags.map(({ key }) => results.get(key)!.value)).toEqual([false, false, true])
    expect([...snapshot.issues].map(([id, [issue]]) => [id, issue!.code])).toEqual([
      [1, 'regex_too_large'],
      [2, 'regex_too_large'],
    ])
    const [seen] = snapshot.explain(subject('a'), { key: 'flag-1', now })!.conditions[0]!.filters
    expect(seen).toMatchObject({ matched: false, limit: 'pattern' })
  })
})

describe('a value that is too long', () => {
  it('matches neither regex nor not_regex, and no pattern runs', () => {
    const snapshot = compile(definitions([flag(1, filter('a')), flag(2, filter('b', 'not_regex'))]), options)
    steps = 0
    const tooLong = subject('a'.repeat(inputLengthMax + 1))
    expect([...snapshot.evaluate(tooLong, { now })].map(([, { value }]) => value)).toEqual([false, false])
    expect(steps).toBe(0)
    const [seen] = snapshot.explain(tooLong, { key: 'flag-1', now })!.conditions[0]!.filters
    expect(seen).toMatchObject({ matched: false, failed: false, certain: false, limit: 'input' })
    const longest = subject('a'.repeat(inputLengthMax))
    expect([...snapshot.evaluate(longest, { now })].map(([, { value }]) => value)).toEqual([true, true])
  })
})

describe('the steps of one evaluation', () => {
  const flags = Array.from({ length: 200 }, (_, index) =>
    flag(index + 1, filter(`${index}|${hostile[index % hostile.length]}`)),
  )

  it('are bounded, whatever patterns and values there are', () => {
    const snapshot = compile(definitions(flags), options)
    for (const length of [200, 2000, inputLengthMax, 60_000]) {
      steps = 0
      snapshot.evaluate(subject('x'.repeat(length)), { now })
      expect(steps).toBeLessThanOrEqual(evaluationStepsMax)
    }
  })

  it('once used up, make the remaining filters fail, which evaluation and explanation report', () => {
    const snapshot = compile(definitions(flags), options)
    const outcomes = [...snapshot.evaluate(subject('x'.repeat(1000)), { now })].map(([, outcome]) => outcome)
    const failed = outcomes.filter(outcome => outcome.failed)
    expect(failed.length).toBeGreaterThan(10)
    expect(failed.every(({ value, reason }) => value === false && reason.code === 'error')).toBe(true)
    const greedy = flag(1, ...hostile.map(pattern => filter(pattern)), filter(`y|${hostile[0]}`))
    const text = subject('x'.repeat(1500))
    const trace = compile(definitions([greedy]), options).explain(text, { key: 'flag-1', now })!
    expect(trace.conditions[0]!.filters).toContainEqual(expect.objectContaining({ limit: 'budget', failed: true }))
  })

  it('do not depend on what other subjects have left in the caches', () => {
    const some = flags.map(({ id }) => flag(id, filter(`a{${(id % 250) + 1}}[a-z]{${id + 500}}|^x`)))
    const values = ['x', 'xa', 'a'.repeat(60), 'x'.repeat(99)]
    const resultsOf = (snapshot: ReturnType<typeof compile>, text: string) =>
      [...snapshot.evaluate(subject(text), { now })].map(([, { reason }]) => reason.code)
    const warm = compile(definitions(some), options)
    for (const text of [...values, ...values]) resultsOf(warm, text)
    for (const text of values)
      expect(resultsOf(warm, text)).toEqual(resultsOf(compile(definitions(some), options), text))
    expect(new Set(resultsOf(warm, 'a'.repeat(60)))).toContain('error')
  })
})

describe('the estimate of a program', () => {
  const atom = fc.constantFrom('a', 'é', '.', '\\d', '\\.', '[a-z]', '[^\\]x]', '\\pL', '[\\p{L}\\d]', '^', '(?i)')
  const count = fc.constantFrom('', '', '', '*', '+?', '?', '{3}', '{2,}', '{0,7}', '{12}', '{')
  const pattern = fc.letrec<{ pattern: string }>(tie => ({
    pattern: fc
      .array(
        fc.tuple(
          fc.oneof(
            { maxDepth: 3 },
            atom,
            tie('pattern').map(inner => `(${inner})`),
            tie('pattern').map(inner => `(?:${inner})`),
          ),
          count,
        ),
        { maxLength: 4 },
      )
      .map(parts => parts.map(([part, times]) => part + times).join('|'.repeat(parts.length % 2))),
  })).pattern

  it('is never below the size of the compiled program', () => {
    fc.assert(
      fc.property(pattern, text => {
        let size: number
        try {
          size = RE2JS.compile(text).programSize()
        } catch {
          return
        }
        expect(estimateProgramSize(text)).toBeGreaterThanOrEqual(size)
      }),
      { numRuns: 2000 },
    )
  })
})
