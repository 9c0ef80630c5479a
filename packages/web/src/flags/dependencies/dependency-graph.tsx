import type { DependencyNode } from '@halyard/contract'
import { VisuallyHidden } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { CircleIcon, FlagIcon } from '../../ui/icons.tsx'
import classes from './dependency-graph.module.css'
import { nodeKey, type PlacedNode, placeInLayers } from './layered-layout.ts'

const node = { width: 208, height: 36 }
const gap = { x: 64, y: 12 }

interface Props {
  projectId: string
  nodes: readonly DependencyNode[]
  /** The flag whose page this is. */
  currentId?: number
}

/** Layers from left to right: a flag stands to the right of what it depends on. The table beside it says the same. */
export function DependencyGraph({ projectId, nodes, currentId }: Props) {
  const t = useMessages()
  const layers = useMemo(() => placeInLayers(nodes), [nodes])
  const width = layers.length * (node.width + gap.x) - gap.x
  const height = Math.max(...layers.map(layer => layer.length)) * (node.height + gap.y) - gap.y
  return (
    <section className={classes.scroller} aria-label={t.dependencies.graph}>
      <div className={classes.graph} style={{ width, height }}>
        <Edges layers={layers} width={width} height={height} />
        {layers.map((layer, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a layer is its distance.
          <ol key={index} className={classes.layer} aria-label={t.dependencies.layer(index + 1)}>
            {layer.map(placed => (
              <li key={placed.key} className={classes.node} style={{ ...positionOf(placed), ...node }}>
                <NodeLink
                  projectId={projectId}
                  node={placed.node}
                  isCurrent={placed.node.kind === 'flag' && placed.node.id === currentId}
                />
              </li>
            ))}
          </ol>
        ))}
      </div>
    </section>
  )
}

const positionOf = ({ layer, row }: PlacedNode) => ({
  left: layer * (node.width + gap.x),
  top: row * (node.height + gap.y),
})

function Edges({ layers, width, height }: { layers: readonly PlacedNode[][]; width: number; height: number }) {
  const placed = layers.flat()
  const byKey = new Map(placed.map(each => [each.key, each]))
  return (
    <svg className={classes.edges} width={width} height={height} aria-hidden="true">
      {placed.flatMap(user =>
        user.node.uses.flatMap(reference => {
          const used = byKey.get(nodeKey(reference))
          return used ? [<path key={`${used.key} ${user.key}`} d={edgeBetween(used, user)} />] : []
        }),
      )}
    </svg>
  )
}

function edgeBetween(used: PlacedNode, user: PlacedNode): string {
  const [from, to] = [positionOf(used), positionOf(user)]
  const [x1, y1] = [from.left + node.width, from.top + node.height / 2]
  const [x2, y2] = [to.left, to.top + node.height / 2]
  const bend = gap.x / 2
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
}

export function NodeLink(props: { projectId: string; node: DependencyNode; isCurrent?: boolean }) {
  const { projectId, node: target, isCurrent = false } = props
  const t = useMessages()
  const content = (
    <>
      {target.kind === 'flag' ? <FlagIcon size={14} /> : <CircleIcon size={14} />}
      <span className={classes.name}>{target.name}</span>
      {target.kind === 'cohort' && <VisuallyHidden>{t.dependencies.cohort}</VisuallyHidden>}
      {target.active === false && <span className={classes.off}>{t.flags.stateOff}</span>}
    </>
  )
  const common = { className: classes.link as string, title: target.name, 'aria-current': isCurrent || undefined }
  return target.kind === 'flag' ? (
    <Link to="/project/$projectId/flags/$flagId" params={{ projectId, flagId: String(target.id) }} {...common}>
      {content}
    </Link>
  ) : (
    <Link to="/project/$projectId/cohorts/$cohortId" params={{ projectId, cohortId: String(target.id) }} {...common}>
      {content}
    </Link>
  )
}
