import { describe, expect, it } from 'vitest'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Definitions } from '../sdk/definitions.ts'
import { createDefinitionFeed } from './definition-feed.ts'

/** A project with one flag of the given size. */
const project = (version: number, flagBytes: number) =>
  ({ project: { id: 1 }, version, flagBytes }) as unknown as ServedProject & { version: number; flagBytes: number }

type Served = ReturnType<typeof project>

const piece = (served: ServedProject) => {
  const { version, flagBytes } = served as ReturnType<typeof project>
  return `{"version":${version},"text":"${'x'.repeat(flagBytes)}"}`
}

const definitions: Definitions = {
  bodyOf: served => ({
    json: Buffer.from(`{"flags":[${piece(served)}]}`),
    projectToken: 'phc_token',
    etag: `W/"v${(served as ReturnType<typeof project>).version}"`,
  }),
  idOf: served => `v${(served as ReturnType<typeof project>).version}`,
  piecesOf: served => new Map([[7, piece(served)]]),
  surroundings: () => '',
}

describe('the updates that followers of definitions receive', () => {
  it('are held in memory once for all followers', () => {
    const feed = createDefinitionFeed(definitions)
    const served = project(1, 100)
    expect(feed.opening(served, undefined)).toBe(feed.opening(served, 'something else'))
    expect(feed.opening(served, 'v1')).toBeUndefined()
  })

  it('resume within the retained changes, and contain everything from further back', () => {
    const feed = createDefinitionFeed(definitions)
    const states = Array.from({ length: 10 }, (_, index) => project(index, 1024 * 1024))
    for (let index = 1; index < states.length; index++) feed.change(states[index - 1]!, states[index]!)
    const newest = states.at(-1)!
    const openingFrom = (id: string) => feed.opening(newest, id)?.subarray(0, 13).toString()
    expect(openingFrom('v8')).toBe('event: change')
    expect(openingFrom('v7')).toBe('event: change')
    expect(openingFrom('v2')).toBe('event: state\n')
  })

  it('resume only when no change is missing in between', () => {
    const feed = createDefinitionFeed(definitions)
    const [v0, v1, v2, v3] = [0, 1, 2, 3].map(version => project(version, 100)) as [Served, Served, Served, Served]
    const openingFrom = (served: Served, id: string) => feed.opening(served, id)?.subarray(0, 13).toString()
    feed.change(v0, v1)
    expect(openingFrom(v1, 'v0')).toBe('event: change')
    expect(openingFrom(v2, 'v0')).toBe('event: state\n')
    feed.change(v2, v3)
    expect(openingFrom(v3, 'v0')).toBe('event: state\n')
    expect(openingFrom(v3, 'v2')).toBe('event: change')
  })

  it('name the version that they apply to', () => {
    const frame = createDefinitionFeed(definitions).change(project(1, 1), project(2, 1))!.toString()
    expect(frame).toBe('event: change\nid: v2\ndata: {"from":"v1","flags":[{"version":2,"text":"x"}],"removed":[]}\n\n')
  })
})
