import { AstBuilder, compile, GherkinClassicTokenMatcher, Parser } from '@cucumber/gherkin'
import { IdGenerator } from '@cucumber/messages'

/** A scenario with the values of one row of its examples. */
export interface Scenario {
  readonly name: string
  readonly steps: readonly Step[]
}
export interface Step {
  readonly text: string
  readonly rows: readonly (readonly string[])[]
}

export function scenariosIn(feature: string, uri: string): Scenario[] {
  const newId = IdGenerator.incrementing()
  const document = new Parser(new AstBuilder(newId), new GherkinClassicTokenMatcher()).parse(feature)
  return compile(document, uri, newId).map(({ name, steps }) => ({
    name,
    steps: steps.map(({ text, argument }) => ({
      text,
      rows: (argument?.dataTable?.rows ?? []).map(({ cells }) => cells.map(({ value }) => value)),
    })),
  }))
}
