import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { framesOf } from '../api/edge/edge-feed.ts'
import { documentOf, type ProjectState, projectState } from '../api/edge/project-state.ts'
import { createReplica } from './replica.ts'
import { createStateStage, StateGap } from './state-stage.ts'

const uuid = '01890000-0000-7000-8000-000000000000'
const project = { id: 1, uuid, organizationId: 'o', apiToken: 'phc_1', groupTypes: {}, propertyMatchingVersion: 2 }

/** A project with some flags, by id and version. */
const stateOf = (flags: Readonly<Record<string, string>>): ProjectState => {
  const texts = { project: JSON.stringify(project), ...prefixed(flags) }
  return projectState(uuid, new Map(Object.entries(texts).map(([name, json]) => [name, documentOf(name, json)])))
}
const prefixed = (flags: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(flags).map(([id, name]) => [
      `flag/${id}`,
      JSON.stringify({ id: Number(id), key: name, filters: {} }),
    ]),
  )

const dataOf = (frame: string): string => /^data: (.*)$/m.exec(frame)![1]!
const frames = (before: ProjectState | undefined, after: ProjectState, charactersMax = 60): string[] =>
  [...framesOf(before, after, charactersMax)].map(dataOf)

describe('a state that arrives in frames', () => {
  const flags = fc.dictionary(fc.constantFrom('1', '2', '3', '4', '5'), fc.string({ maxLength: 30 }))

  it('is applied completely or as a difference, in any number of frames', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(flags, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 200 }),
        async (all, max) => {
          const replica = createReplica()
          const stage = createStateStage(replica, 1e6)
          let before: ProjectState | undefined
          for (const after of all.map(stateOf)) {
            const parts = frames(before, after, max)
            for (const [index, part] of parts.entries()) {
              // Nothing is served before the last frame.
              if (index > 0) expect(replica.stateOf(uuid)?.digest).toBe(before?.digest)
              await stage.take(part)
            }
            expect(replica.stateOf(uuid)?.digest).toBe(after.digest)
            before = after
          }
        },
      ),
    )
  })

  it('is rejected when parts are missing, forged or based on another state, and the served state stays', async () => {
    const [first, second, third] = [stateOf({ 1: 'a' }), stateOf({ 1: 'b', 2: 'c' }), stateOf({ 3: 'd' })] as const
    const replica = createReplica()
    const stage = createStateStage(replica, 1e6)
    for (const part of frames(undefined, first)) await stage.take(part)
    const refused = [
      ...frames(second, third),
      ...frames(first, second, 1e6).map(part => part.replace('\\"b\\"', '\\"x\\"')),
      ...frames(first, second, 1).slice(1, 2),
    ]
    for (const part of refused) await expect(stage.take(part)).rejects.toBeInstanceOf(StateGap)
    expect(replica.stateOf(uuid)).toMatchObject({ digest: first.digest })
  })

  it.each([
    ['a flag that is no object', 'flag/1', 'null'],
    ['a flag without a key', 'flag/1', '{"id":1,"filters":{}}'],
    ['a flag that is no JSON', 'flag/1', '{"id":1'],
    ['a cohort with other filters', 'cohort/1', '{"id":1,"filters":"all"}'],
    ['a key of another shape', 'key/1', '{"hash":5}'],
    ['a project without a token', 'project', JSON.stringify({ ...project, apiToken: null })],
  ])('is refused with a right digest around %s', async (_what, name, json) => {
    const replica = createReplica()
    const stage = createStateStage(replica, 1e6)
    const first = stateOf({ 1: 'a' })
    for (const part of frames(undefined, first)) await stage.take(part)
    const documents = new Map(first.documents).set(name, documentOf(name, json))
    const hostile = frames(first, projectState(uuid, documents), 1e6)
    for (const part of hostile) await expect(stage.take(part)).rejects.toBeInstanceOf(StateGap)
    expect(replica.stateOf(uuid)?.digest).toBe(first.digest)
  })

  it.each([
    'null',
    '5',
    '{}',
    '{"project":7,"from":null,"set":[],"digest":"0-"}',
    `{"project":"${'x'.repeat(1000)}","from":null,"set":[]}`,
    `{"project":"${uuid}","from":null,"set":5}`,
    `{"project":"${uuid}","from":null,"set":[["flag/1"]]}`,
    `{"project":"${uuid}","from":null,"set":[["flag/1",{}]]}`,
    `{"project":"${uuid}","from":null,"removed":"all","set":[]}`,
  ])('is refused as the frame %j', async data => {
    const replica = createReplica()
    await expect(createStateStage(replica, 1e6).take(data)).rejects.toThrow('not valid')
    expect(replica.all()).toEqual([])
  })

  it('is refused before it is parsed when it would become much larger than its text', async () => {
    const stage = createStateStage(createReplica(), 1e9)
    await expect(stage.take('['.repeat(1_000_000))).rejects.toThrow('nested deeper')
    await expect(stage.take(`[${'{},'.repeat(1_000_000)}0]`)).rejects.toThrow('objects and lists')
    const set = [['flag/1', `{"id":1,"key":"a","filters":{"groups":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`]]
    const frame = JSON.stringify({ project: uuid, from: null, set, digest: '1-x' })
    await expect(stage.take(frame)).rejects.toThrow('not valid')
  })

  it('counts the memory of empty documents', async () => {
    const stage = createStateStage(createReplica(), 100_000)
    const set = Array.from({ length: 1000 }, (_, n) => [`x${n}`, ''])
    await expect(stage.take(JSON.stringify({ project: uuid, from: null, set }))).rejects.toThrow('larger than 100000')
  })

  it('is rejected when it exceeds the limit', async () => {
    const replica = createReplica()
    const stage = createStateStage(replica, 500)
    const [whole] = frames(undefined, stateOf({ 1: 'x'.repeat(1000) }), 1e6)
    await expect(stage.take(whole!)).rejects.toThrow('larger than 500 bytes')
    expect(replica.all()).toEqual([])
  })
})
