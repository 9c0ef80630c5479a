import type { Flag } from '@halyard/contract'
import { readFilters } from '../filters.ts'

export const targetNames = [
  'Node.js',
  'Browser',
  'HTML',
  'React',
  'Next.js',
  'Python',
  'Go',
  'Ruby',
  'PHP',
  'Java',
  '.NET',
  'iOS',
  'Android',
  'Flutter',
  'OpenFeature',
  'Halyard for Node.js',
  'Halyard for React',
  'curl',
] as const
export type TargetName = (typeof targetNames)[number]

/** How a snippet is highlighted. */
export type Syntax = 'c-like' | 'python' | 'ruby' | 'php' | 'html' | 'shell'

export interface Snippet {
  readonly name: TargetName
  /** The page of the documentation that uses the same calls. */
  readonly guide?: string
  /** The install command. */
  readonly install?: string
  readonly syntax: Syntax
  readonly code: string
}

/** What the snippets are written for. */
export interface SnippetFlag {
  readonly key: string
  readonly variants: readonly string[]
  readonly hasPayload: boolean
  /** The name of the group type for which the flag is evaluated. */
  readonly groupType: string | undefined
}

export interface SnippetContext {
  readonly flag: SnippetFlag
  /** The address of this server. */
  readonly host: string
  readonly token: string
}

export function snippetFlag(flag: Flag, groupTypes: Readonly<Record<string, string>>): SnippetFlag {
  const { variants, payloads, groupTypeIndex } = readFilters(flag.filters)
  return {
    key: flag.key,
    variants: variants.map(({ key }) => key),
    hasPayload: Object.keys(payloads).length > 0,
    groupType: groupTypeIndex === null ? undefined : groupTypes[String(groupTypeIndex)],
  }
}

/** Lines with an indentation; `undefined` lines are left out. */
export const lines = (indent: number, ...all: readonly (string | undefined)[]): string =>
  all
    .filter(line => line !== undefined)
    .flatMap(line => line.split('\n'))
    .map(line => (line === '' ? '' : ' '.repeat(indent) + line))
    .join('\n')
