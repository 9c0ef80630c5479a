import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

/** Documents that point somewhere point at something. */

const root = join(import.meta.dirname, '..')
const documents = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(name => name && existsSync(join(root, name)))

it.each(documents)('%s: every link leads somewhere', name => {
  const text = readFileSync(join(root, name), 'utf8').replace(/```[\s\S]*?```/g, '')
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!)
  const missing = links.filter(
    target => !/^(https?:|mailto:|#)/.test(target) && !existsSync(join(root, dirname(name), target.split('#', 1)[0]!)),
  )
  expect(missing).toEqual([])
})

it('npm scripts that documents name exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const named = documents.flatMap(name =>
    [...readFileSync(join(root, name), 'utf8').matchAll(/npm run ([a-z][\w:-]*)/g)].map(
      ([, script]) => `${name}: ${script}`,
    ),
  )
  expect(named.filter(entry => !scripts[entry.split(': ')[1]!])).toEqual([])
})
