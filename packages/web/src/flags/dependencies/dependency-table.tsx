import type { DependencyNode } from '@halyard/contract'
import { useMessages } from '../../i18n/language.tsx'
import { DataTable } from '../../ui/data/data-table.tsx'
import { NodeLink } from './dependency-graph.tsx'
import classes from './dependency-table.module.css'
import { nodeKey, type Reference } from './layered-layout.ts'

interface Props {
  projectId: string
  nodes: readonly DependencyNode[]
}

/** What each flag depends on, and what depends on it, directly. */
export function DependencyTable({ projectId, nodes }: Props) {
  const t = useMessages()
  const byKey = new Map(nodes.map(node => [nodeKey(node), node]))
  const linksTo = (targets: readonly DependencyNode[]) =>
    targets.length === 0 ? (
      t.common.none
    ) : (
      <ul className={classes.links}>
        {targets.map(node => (
          <li key={nodeKey(node)}>
            <NodeLink projectId={projectId} node={node} />
          </li>
        ))}
      </ul>
    )
  const find = (reference: Reference) => byKey.get(nodeKey(reference)) ?? []
  const users = new Map<string, DependencyNode[]>()
  for (const node of nodes) {
    for (const used of node.uses.map(nodeKey)) users.set(used, [...(users.get(used) ?? []), node])
  }
  return (
    <DataTable
      label={t.dependencies.title}
      head={[t.dependencies.node, t.dependencies.uses, t.dependencies.users]}
      rows={nodes.map(node => ({
        key: nodeKey(node),
        cells: [
          <NodeLink key="node" projectId={projectId} node={node} />,
          linksTo(node.uses.flatMap(find)),
          linksTo(users.get(nodeKey(node)) ?? []),
        ],
      }))}
    />
  )
}
