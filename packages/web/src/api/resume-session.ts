import type { Session } from './session.ts'

const markName = 'halyard.stays-signed-in'

/** Scripts cannot read the cookie of a remembered sign-in; this mark says that asking for a session can succeed. */
export const staysSignedIn = (): boolean => localStorage.getItem(markName) === 'yes'

export function markStayingSignedIn(stays: boolean): void {
  if (stays) localStorage.setItem(markName, 'yes')
  else localStorage.removeItem(markName)
}

/** Continues a remembered sign-in without a password. False when there is none, or it was revoked. */
export async function resumeSession(session: Session): Promise<boolean> {
  if (!staysSignedIn()) return false
  try {
    const response = await fetch('/api/session/resume/', { method: 'POST' })
    if (!response.ok) {
      if (response.status === 401) markStayingSignedIn(false)
      return false
    }
    const { api_key, expires_at } = (await response.json()) as { api_key: string; expires_at: string }
    session.begin({ key: api_key, expiresAt: expires_at })
    return true
  } catch {
    return false
  }
}
