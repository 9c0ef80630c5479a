import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

/** Workflows, issue forms and editor settings: parsed like on GitHub and compared with the repository. */

const root = join(import.meta.dirname, '..')
const read = (name: string): string => readFileSync(join(root, name), 'utf8')
const { scripts, engines } = JSON.parse(read('package.json'))

// biome-ignore lint/suspicious/noExplicitAny: the shapes are what is being checked.
type Yaml = any

const workflows = readdirSync(join(root, '.github/workflows'))

describe.each(workflows)('.github/workflows/%s', name => {
  const text = read(`.github/workflows/${name}`)
  const workflow: Yaml = parse(text, { strict: true, uniqueKeys: true })
  const jobs: [string, Yaml][] = Object.entries(workflow.jobs)
  const steps: Yaml[] = jobs.flatMap(([, job]) => job.steps)

  it('uses known keys only', () => {
    const unknown = (value: object, allowed: readonly string[]) =>
      Object.keys(value).filter(key => !allowed.includes(key))
    expect(unknown(workflow, ['concurrency', 'jobs', 'name', 'on', 'permissions'])).toEqual([])
    const jobKeys = ['defaults', 'name', 'needs', 'permissions', 'runs-on', 'steps', 'strategy', 'timeout-minutes']
    for (const [, job] of jobs) expect(unknown(job, jobKeys)).toEqual([])
    const stepKeys = ['env', 'id', 'if', 'name', 'run', 'uses', 'with', 'working-directory']
    for (const step of steps) {
      expect(unknown(step, stepKeys)).toEqual([])
      expect('run' in step).not.toBe('uses' in step)
    }
  })

  it('runs npm scripts and files that exist', () => {
    const commands = steps.map(({ run }) => run ?? '').join('\n')
    const named = [...commands.matchAll(/npm (?:run (\S+)|(start|test)\b)/g)].map(
      ([, script, short]) => script ?? short,
    )
    expect(named.filter(script => !scripts[script!])).toEqual([])
    const files = [...commands.matchAll(/\bdeploy\/[\w./-]*\w/g)].map(([path]) => path)
    const missing = files.filter(path => !path.startsWith('deploy/secrets') && !existsSync(join(root, path)))
    expect(missing).toEqual([])
  })

  it('has minimal permissions, a timeout for each job, and pinned actions', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    for (const [, job] of jobs) expect(job['timeout-minutes']).toBeTypeOf('number')
    for (const { uses } of steps.filter(step => step.uses))
      expect(uses).toMatch(/^[\w.-]+(\/[\w.-]+)+@(v\d+|[0-9a-f]{40})$/)
    for (const { with: options } of steps.filter(step => step.uses?.startsWith('actions/checkout@'))) {
      expect(options).toEqual({ 'persist-credentials': false })
    }
  })

  it('refers to jobs, steps and matrix values that it defines', () => {
    for (const [, job] of jobs) {
      const needed = [job.needs ?? []].flat()
      for (const other of needed) expect(Object.keys(workflow.jobs)).toContain(other)
      const own = JSON.stringify(job)
      for (const [, key] of own.matchAll(/\$\{\{ matrix\.(\w+)/g))
        expect(Object.keys(job.strategy.matrix)).toContain(key)
      const ids = job.steps.map(({ id }: Yaml) => id)
      for (const [, id] of own.matchAll(/\$\{\{ steps\.(\w+)/g)) expect(ids).toContain(id)
    }
  })

  it('does not interpolate untrusted input into shell commands', () => {
    for (const { run } of steps) expect(run ?? '').not.toContain('${{')
  })
})

it('CI covers Linux, macOS and Windows, x64 and arm64, on every supported Node', () => {
  const { jobs }: Yaml = parse(read('.github/workflows/ci.yml'))
  const { test, quick } = jobs
  expect(test.strategy.matrix.os).toEqual(['ubuntu-24.04', 'ubuntu-24.04-arm'])
  expect(quick.strategy.matrix.os).toEqual(['macos-latest', 'macos-15-intel', 'windows-latest'])
  for (const { strategy } of [test, quick]) {
    expect(strategy.matrix.node).toEqual([engines.node.replace('>=', ''), '22', read('.nvmrc').trim()])
  }
})

it.each(['bug', 'feature'])('the %s form has only known field types and unique ids', name => {
  const form: Yaml = parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`), { strict: true, uniqueKeys: true })
  expect(Object.keys(form)).toEqual(['name', 'description', 'labels', 'body'])
  const fields = form.body.filter(({ type }: Yaml) => type !== 'markdown')
  const ids = fields.map(({ id }: Yaml) => id)
  expect(new Set(ids).size).toBe(fields.length)
  for (const { type, attributes } of fields) {
    expect(['checkboxes', 'dropdown', 'input', 'textarea']).toContain(type)
    expect(attributes.label).toBeTypeOf('string')
    if (type === 'dropdown') expect(new Set(attributes.options).size).toBe(attributes.options.length)
    if (type === 'checkboxes') for (const option of attributes.options) expect(option.label).toBeTypeOf('string')
  }
})

it('the development container and the editor use the versions and rules of the repository', () => {
  const { image } = JSON.parse(read('.devcontainer/devcontainer.json'))
  expect(image).toMatch(new RegExp(`:${read('.nvmrc').trim()}$`))
  const { formatter } = JSON.parse(read('biome.json'))
  expect(read('.editorconfig')).toContain(`indent_size = ${formatter.indentWidth}`)
  expect(read('.editorconfig')).toContain(`max_line_length = ${formatter.lineWidth}`)
})
