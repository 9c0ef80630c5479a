import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Links, anchors, paths in code spans and npm scripts in documents must exist. */

const root = join(import.meta.dirname, '..')
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(name => name && existsSync(join(root, name)))
const documents = files.filter(name => name.endsWith('.md'))

const read = (name: string): string => readFileSync(join(root, name), 'utf8')
const withoutCodeBlocks = (text: string): string => text.replace(/```[\s\S]*?```/g, '')

/** The anchors that GitHub generates for the headings of a document. */
function anchorsOf(name: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading] of withoutCodeBlocks(read(name)).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const slug = heading!
      .replace(/\]\([^)]*\)/g, '')
      .toLowerCase()
      .replace(/[^\p{Letter}\p{Number} _-]/gu, '')
      .replaceAll(' ', '-')
    for (let n = 0; ; n++) {
      const anchor = n === 0 ? slug : `${slug}-${n}`
      if (anchors.has(anchor)) continue
      anchors.add(anchor)
      break
    }
  }
  return anchors
}

function isBroken(name: string, link: string): boolean {
  if (/^(https?:|mailto:)/.test(link)) return false
  const [path = '', anchor] = link.split('#', 2)
  const target = path === '' ? name : normalize(join(dirname(name), path))
  if (!existsSync(join(root, target))) return true
  return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor)
}

/** Source files may be named by the end of their path, such as `storage/open-storage.ts`. */
const isTracked = (path: string): boolean => files.some(name => name === path || name.endsWith(`/${path}`))

it('the pages of the documentation are wrapped at 120 columns, except for tables', () => {
  const pages = documents.filter(name => name === 'README.md' || name.startsWith('docs/'))
  const long = pages.flatMap(name =>
    read(name)
      .split('\n')
      .flatMap((line, index) => (line.length > 120 && !line.startsWith('|') ? [`${name}:${index + 1}`] : [])),
  )
  expect(long).toEqual([])
})

it('pages with commands of `halyard` say how to run it', () => {
  const isCommand = /^(?:.*[|(] *)?halyard /m
  const silent = documents
    .filter(name => name.startsWith('docs/') && !name.endsWith('reference/command-line.md'))
    .filter(name => [...read(name).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].some(([, block]) => isCommand.test(block!)))
    .filter(name => !read(name).includes('reference/command-line.md#run-it'))
  expect(silent).toEqual([])
})

describe.each(documents)('%s', name => {
  const text = withoutCodeBlocks(read(name))

  it('has only links to existing files and anchors', () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!)
    expect(links.filter(link => isBroken(name, link))).toEqual([])
  })

  it('names only existing files in code spans', () => {
    const paths = [...text.matchAll(/`((?:[\w@.-]+\/)+[\w.-]+\.(?:tsx?|mjs|cjs|wat|md))`/g)].map(([, path]) => path!)
    // A tutorial may name a file that it creates.
    const created = [...read(name).matchAll(/<!-- file: (\S+) -->/g)].map(([, path]) => path!)
    expect(paths.filter(path => !isTracked(path) && !created.includes(path))).toEqual([])
  })

  it('names only existing npm scripts', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const named = [...read(name).matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, script]) => script!)
    expect(named.filter(script => !scripts[script])).toEqual([])
  })
})
