import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { en } from '../../packages/web/src/i18n/en.ts'

const sources = new URL('../../packages/web/src/', import.meta.url)
const opening = /<(\w*(?:Dialog|Review)|ConfirmButton)\s/g
const confirming = /<(ConfirmDialog|ConfirmButton)\s/g

/** Every title that the sources give to a dialog, as a key of the messages: a new dialog is listed too. */
export const dialogTitles = (): string[] => titlesOf(opening)

/** The titles of those that ask for a confirmation. */
export const confirmations = (): string[] => titlesOf(confirming)

function titlesOf(tag: RegExp): string[] {
  const titles = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.tsx'))
    .flatMap(path => {
      const text = readFileSync(new URL(path, sources), 'utf8')
      return [...text.matchAll(tag)].flatMap(({ 1: name, index }) => {
        return messagesIn(attributeOf(text.slice(index), titleAttributes[name!] ?? 'title'), text)
      })
    })
  return [...new Set(titles)].sort()
}

const titleAttributes: Record<string, string> = {
  ConfirmButton: 'question',
  ConfirmDialog: 'question',
  TopDialog: 'label',
}

/** The expression of an attribute in the opening tag at the start of the text. */
function attributeOf(text: string, name: string): string {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    if (depth === 0 && text[at] === '>') return ''
    if (depth === 0 && text.startsWith(`${name}={`, at) && /\s/.test(text[at - 1]!)) {
      return text.slice(at, endOfBraces(text, at + name.length + 1))
    }
    if (text[at] === '{') depth += 1
    if (text[at] === '}') depth -= 1
  }
  return ''
}

function endOfBraces(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1
    if (text[at] === '}') depth -= 1
    if (depth === 0) return at
  }
  return text.length
}

/** The messages in an expression and in the constants of the same file that it names. */
function messagesIn(expression: string, text: string): string[] {
  const found = [...expression.matchAll(/\bt\.(\w+(?:\.\w+)+)/g)].map(([, key]) => key!)
  // What a message is about is no message.
  const withoutArguments = expression.replaceAll(/\([^()]*(?:\([^()]*\)[^()]*)*\)/g, '')
  const names = [...withoutArguments.matchAll(/(?<![.\w])(?!title=|label=|question=)[a-z]\w+/g)].map(([name]) => name)
  const constants = names.flatMap(name => new RegExp(`const ${name} = (.*)`).exec(text)?.[1] ?? [])
  return [...found, ...constants.flatMap(constant => messagesIn(constant, text))]
}

/** A message about a placeholder, and about one thing. */
export function textsOf(key: string, messages: object): string[] {
  const message = key.split('.').reduce((value: unknown, part) => (value as Record<string, unknown>)[part], messages)
  if (typeof message !== 'function') return [String(message)]
  return [message(placeholder, placeholder), message(1), message(placeholder, '1')].map(String)
}

/** Matches the English text of a message, whatever it is about. */
export function patternOf(key: string): RegExp {
  const escaped = textsOf(key, en).map(text => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^(${escaped.join('|').replaceAll(/§|NaN/g, '.+')})$`)
}
export const placeholder = '§'

const linesUntilCheck = 14

/** A test of that file opens the dialog by its title and runs axe right after. */
export function expectOpenedIn(file: string, title: string): void {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8').split('\n')
  const pattern = patternOf(title)
  const isChecked = lines.some((line, index) => {
    const [, name, part] = /getByRole\('dialog', \{ name: (?:'([^']*)'|\/(.*)\/) \}\)/.exec(line) ?? []
    const isNamed = (name !== undefined && pattern.test(name)) || (part !== undefined && pattern.source.includes(part))
    const next = lines.slice(index, index + linesUntilCheck).join('\n')
    return isNamed && next.includes('expectSound(')
  })
  expect(isChecked, `${file} opens the dialog "${title}" and checks it`).toBe(true)
}
