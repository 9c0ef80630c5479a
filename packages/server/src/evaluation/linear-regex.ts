import type { Matcher } from '@halyard/engine'
import { RE2JS } from 're2js'

/** Runs in linear time: what RE2 cannot run (lookaround, backreferences) is rejected. */
export function linearRegex(pattern: string): Matcher {
  const compiled = RE2JS.compile(pattern)
  return { size: compiled.programSize(), test: text => compiled.matcher(text).find() }
}
