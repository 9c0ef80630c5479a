import type { CertificateSummary, ImportCertificate } from '@halyard/contract'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'

export interface NewCertificate {
  readonly importId: number | null
  readonly certificate: ImportCertificate
  readonly createdAt: Instant
}

export interface StoredCertificate extends NewCertificate {
  readonly id: number
}

export interface CertificateStore {
  create(projectId: number, certificate: NewCertificate): Promise<StoredCertificate>
  /** Newest first, without flags and differences. */
  list(projectId: number, window: Window): Promise<PageOf<CertificateSummary>>
  find(projectId: number, certificateId: number): Promise<StoredCertificate | undefined>
  remove(projectId: number, certificateId: number): Promise<void>
  /** Deletes all but the newest. */
  keepNewest(projectId: number, count: number): Promise<void>
}
