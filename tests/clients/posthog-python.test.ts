import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachPath } from '../../packages/server/src/testing/paths.ts'
import type { Program } from '../program/start-program.ts'
import { startWithSdkFlags, storedProperty, valuesOf } from './sdk-flags.ts'

/** npm does not install this SDK: the test runs where an interpreter that has it is named, as in the workflows. */
const python = process.env.HALYARD_TEST_PYTHON ?? ''
const program = fileURLToPath(new URL('posthog-python.py', import.meta.url))

const persons = ['u1', 'u2', 'a@example.com', 'ü'].map((id, index) => ({ id, plan: index % 2 === 0 ? 'pro' : 'free' }))

onEachPath('unmodified posthog-python', environment => {
  let s: Program
  beforeAll(async () => {
    s = await startWithSdkFlags(environment)
  })
  afterAll(() => s.close())

  it.runIf(python !== '')('evaluates remotely and locally as the server does, and sends events', async () => {
    const { body: secret } = await s.post(`${s.project}/secret_keys/`, { label: 'python' })
    const expected = await Promise.all(persons.map(({ id, plan }) => valuesOf(s, id, plan)))
    const env = {
      PATH: process.env.PATH,
      HALYARD_URL: s.url,
      HALYARD_PROJECT_TOKEN: s.projectToken,
      HALYARD_SECRET_KEY: secret.value,
    }
    const { stdout } = await promisify(execFile)(python, [program, JSON.stringify(persons)], { env })
    const payloads = [{ color: 'red' }, { color: 'red' }]
    // Definitions contain disabled flags, which the server leaves out of its responses.
    expect(JSON.parse(stdout)).toEqual(
      expected.map(values => ({ remote: values, local: { ...values, off: false }, payloads })),
    )
    expect(await storedProperty(s, 'u1', 'learned')).toBe('python')
  })
})
