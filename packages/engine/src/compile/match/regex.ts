import type { EngineOptions, Matcher } from '../../definition/definition.ts'
import { toText } from '../../definition/json.ts'
import { estimateProgramSize, inputLengthMax, patternLengthMax, programSizeMax } from '../../definition/regex-limits.ts'
import { FAILED, FALSE, REGEX, type Ternary, TRUE, UNKNOWN, UNKNOWN_FALSE } from '../../evaluate/ternary.ts'
import { isSharedText, portabilityOf } from './portable-regex.ts'
import type { CompiledTest, Test, ValueIssue } from './value-test.ts'

/** A pattern whose estimate is far above the limit is not compiled at all; close to it, the compiled size decides. */
const estimateMax = 5 * programSizeMax

/** `wanted` is false for `not_regex`. */
export function regexTest(target: unknown, options: EngineOptions, wanted: boolean): CompiledTest {
  const pattern = toText(target)
  const oversize = patternIssue(pattern)
  if (oversize !== undefined) return { test: () => UNKNOWN_FALSE, valueIssue: oversize }
  const portability = portabilityOf(pattern)
  let matcher: Matcher
  try {
    matcher = options.regex(pattern)
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it cannot be compiled'
    const test: Test = () => (portability === 'invalid' ? FALSE : UNKNOWN_FALSE)
    return { test, valueIssue: { code: 'invalid_regex', message: `The regular expression cannot be used: ${why}` } }
  }
  if (portability === 'invalid') return { test: () => FALSE }
  if (!(matcher.size <= programSizeMax)) return { test: () => UNKNOWN_FALSE, valueIssue: programIssue(matcher.size) }
  const test = matcherTest(matcher, wanted, portability === 'shared', pattern === '')
  const regexSize = matcher.size
  return typeof target === 'object' || target === undefined
    ? { test, regexSize, valueIssue: { code: 'invalid_value', message: 'A regular expression must be a string.' } }
    : { test, regexSize }
}

function patternIssue(pattern: string): ValueIssue | undefined {
  if (pattern.length > patternLengthMax) {
    const message = `The regular expression has ${pattern.length} characters; the limit is ${patternLengthMax}.`
    return { code: 'regex_too_large', message }
  }
  const estimate = estimateProgramSize(pattern)
  return estimate > estimateMax ? programIssue(estimate) : undefined
}

const programIssue = (size: number): ValueIssue => ({
  code: 'regex_too_large',
  message: `The regular expression compiles to ${size} instructions; the limit is ${programSizeMax}. Use fewer repetitions.`,
})

/**
 * A value that is too long does not match, for either operator. When the evaluation has used up its steps, the filter
 * fails: the flag reports an error instead of a value that no one can rely on.
 */
function matcherTest(matcher: Matcher, wanted: boolean, isShared: boolean, isEmpty: boolean): Test {
  return (value, context): Ternary => {
    const text = toText(value)
    if (text.length > inputLengthMax) return UNKNOWN_FALSE
    if (!context.spendRegexSteps(matcher.size, text.length)) return FAILED
    const uncertainty = isEmpty || (isShared && isSharedText(text)) ? 0 : UNKNOWN | REGEX
    try {
      return (matcher.test(text) === wanted ? TRUE : FALSE) | uncertainty
    } catch {
      return FALSE | uncertainty
    }
  }
}
