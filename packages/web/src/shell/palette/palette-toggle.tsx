import type { FlagSummary } from '@halyard/contract'
import { useEffect } from 'react'
import { useToggle } from '../../flags/use-toggle.tsx'
import { useProject } from '../../services/session-queries.ts'

export interface ToggleRequest {
  readonly projectId: string
  readonly flag: FlagSummary
}

const noGroupTypes = {}

/** Turns the flag of a command on or off, from any page: asks with the impact, then offers undo. */
export function PaletteToggle({ request: { projectId, flag }, request }: { request: ToggleRequest }) {
  const project = useProject(projectId)
  const { toggle, dialog } = useToggle(project ?? { id: projectId, group_types: noGroupTypes })
  // biome-ignore lint/correctness/useExhaustiveDependencies: asks once per request.
  useEffect(() => {
    toggle(flag)
  }, [request])
  return dialog
}
