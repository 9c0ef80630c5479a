import { expect, it } from 'vitest'
import { payloadOf, readJobs, startOf, validatePayload } from './job-form.ts'

const plugin = {
  capabilities: { jobs: ['Send', 'Bare'] },
  public_jobs: {
    Send: {
      payload: {
        text: { type: 'string', title: 'Text', required: true },
        loud: { type: 'boolean', default: true },
        data: { type: 'json', default: { a: 1 } },
        times: { type: 'number' },
        when: { type: 'daterange' },
        odd: { type: 'color' },
      },
    },
    Bare: {},
    Missing: {},
  },
}
const [send, bare] = readJobs(plugin)

it('lists the public jobs that the code implements', () => {
  expect(readJobs(plugin).map(({ name }) => name)).toEqual(['Send', 'Bare'])
  expect(send?.fields.map(({ key, label }) => [key, label])).toEqual([
    ['text', 'Text'],
    ['loud', 'loud'],
    ['data', 'data'],
    ['times', 'times'],
    ['when', 'when'],
  ])
  expect(bare?.fields).toEqual([])
  expect(readJobs({ capabilities: {}, public_jobs: { Send: {} } })).toEqual([])
})

it('starts with defaults and sends typed values', () => {
  const start = startOf(send!)
  expect(start).toEqual({ text: '', loud: true, data: '{"a":1}', times: '', when: ['', ''] })
  expect([...validatePayload(send!, start)]).toEqual([['text', 'required']])
  expect([...validatePayload(send!, { ...start, text: 'x', data: '{' })]).toEqual([['data', 'json']])
  const filled = { ...start, text: 'x', times: '3', when: ['2026-01-01', '2026-01-02'] as const }
  expect(payloadOf(send!, filled)).toEqual({
    text: 'x',
    loud: true,
    data: { a: 1 },
    times: 3,
    when: ['2026-01-01', '2026-01-02'],
  })
  expect(payloadOf(bare!, {})).toEqual({})
})
