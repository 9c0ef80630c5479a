import { RE2JS } from 're2js'

/** Users' regular expressions run in linear time or not at all: what RE2 cannot run (lookaround, backreferences) is refused. */
export function linearRegex(pattern: string): { test(text: string): boolean } {
  const compiled = RE2JS.compile(pattern)
  return { test: text => compiled.matcher(text).find() }
}
