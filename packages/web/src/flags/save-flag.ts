import { type Flag, type FlagWrite, routes } from '@halyard/contract'
import type { Call } from '../api/client.ts'
import { isProblem, type OpenedRequest } from '../api/problem.ts'
import { type SaveMode, saveHeaders } from './gate/save-mode.ts'

/** A save either changes the flag or opens a request to do so. */
export type SaveOutcome =
  | { readonly kind: 'saved'; readonly flag: Flag }
  | { readonly kind: 'requested'; readonly request: OpenedRequest }

interface FlagSave {
  readonly projectId: string
  /** Undefined for a new flag. */
  readonly flagId: number | undefined
  readonly patch: FlagWrite
}

/** Saves directly, or requests the change where that was chosen or the server asks for it. */
export function saveFlag(call: Call, { projectId, flagId, patch }: FlagSave, mode: SaveMode): Promise<SaveOutcome> {
  const params = { project_id: projectId }
  if (mode.kind === 'request') return requestChange(call, { projectId, flagId, patch }, mode)
  const headers = saveHeaders(mode)
  return savedOrRequested(
    flagId === undefined
      ? call(routes.flags.create, { params, body: patch as FlagWrite & { key: string }, headers })
      : call(routes.flags.update, { params: { ...params, id: String(flagId) }, body: patch, headers }),
  )
}

/** The server may ask for approval although nothing announced it, for example because a policy is new. */
export async function savedOrRequested(saving: Promise<Flag>): Promise<SaveOutcome> {
  try {
    return { kind: 'saved', flag: await saving }
  } catch (error) {
    if (isProblem(error) && error.changeRequest) return { kind: 'requested', request: error.changeRequest }
    throw error
  }
}

async function requestChange(
  call: Call,
  { projectId, flagId, patch }: FlagSave,
  { title, reason, applyAt }: Extract<SaveMode, { kind: 'request' }>,
): Promise<SaveOutcome> {
  const request = await call(routes.changeRequests.create, {
    params: { project_id: projectId },
    body: {
      ...(flagId !== undefined && { flag_id: flagId }),
      patch,
      reason: reason.trim(),
      ...(title.trim() !== '' && { title: title.trim() }),
      ...(applyAt !== '' && { apply_at: new Date(applyAt).toISOString() }),
    },
  })
  return { kind: 'requested', request }
}
