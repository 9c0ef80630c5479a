import type { DependencyNode } from '@halyard/contract'

export type Reference = Pick<DependencyNode, 'kind' | 'id'>

export const nodeKey = ({ kind, id }: Reference): string => `${kind}-${id}`

export interface PlacedNode {
  readonly node: DependencyNode
  readonly key: string
  /** Nodes of layer 0 depend on nothing. */
  readonly layer: number
  readonly row: number
}

/** Puts each node to the right of everything it depends on, and near it. */
export function placeInLayers(nodes: readonly DependencyNode[]): PlacedNode[][] {
  const byKey = new Map(nodes.map(node => [nodeKey(node), node]))
  const layerOf = layersOf(byKey)
  const layers: PlacedNode[][] = []
  const rows = new Map<string, number>()
  for (let layer = 0; ; layer += 1) {
    const members = nodes.filter(node => layerOf.get(nodeKey(node)) === layer)
    if (members.length === 0) return layers
    const place = (node: DependencyNode) => {
      const used = node.uses.flatMap(reference => rows.get(nodeKey(reference)) ?? [])
      return used.length === 0 ? 0 : used.reduce((sum, row) => sum + row, 0) / used.length
    }
    const sorted = members
      .map(node => ({ node, at: place(node) }))
      .sort((a, b) => a.at - b.at || (a.node.name < b.node.name ? -1 : 1))
    layers.push(sorted.map(({ node }, row) => ({ node, key: nodeKey(node), layer, row })))
    for (const [row, { node }] of sorted.entries()) rows.set(nodeKey(node), row)
  }
}

/** The length of the longest path to something that depends on nothing. */
function layersOf(byKey: ReadonlyMap<string, DependencyNode>): Map<string, number> {
  const layers = new Map<string, number>()
  const visit = (key: string): number => {
    const visited = layers.get(key)
    if (visited !== undefined) return visited
    // The server refuses cycles; one that exists nevertheless is cut here.
    layers.set(key, 0)
    const used = (byKey.get(key)?.uses ?? []).map(nodeKey).filter(each => byKey.has(each))
    const layer = used.length === 0 ? 0 : Math.max(...used.map(visit)) + 1
    layers.set(key, layer)
    return layer
  }
  for (const key of byKey.keys()) visit(key)
  return layers
}
