import type { DependencyNode } from '@halyard/contract'
import { describe, expect, it } from 'vitest'
import { placeInLayers } from './layered-layout.ts'

const node = (id: number, ...uses: number[]): DependencyNode => ({
  kind: 'flag',
  id,
  name: `flag-${id}`,
  active: true,
  uses: uses.map(used => ({ kind: 'flag', id: used })),
})
const idsOf = (nodes: readonly DependencyNode[]) => placeInLayers(nodes).map(layer => layer.map(({ node }) => node.id))

describe('the layout of dependencies', () => {
  it('puts a node to the right of everything it depends on', () => {
    expect(idsOf([node(3, 1, 2), node(2, 1), node(1)])).toEqual([[1], [2], [3]])
    expect(idsOf([])).toEqual([])
  })

  it('puts nodes near what they depend on', () => {
    expect(idsOf([node(1), node(2), node(3, 2), node(4, 1)])).toEqual([
      [1, 2],
      [4, 3],
    ])
  })

  it('places every node of a cycle, and ignores what is not listed', () => {
    expect(
      idsOf([node(1, 2), node(2, 1), node(3, 99)])
        .flat()
        .sort(),
    ).toEqual([1, 2, 3])
  })
})
