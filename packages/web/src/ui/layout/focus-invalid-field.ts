/** The invalid field may be off screen: moves the focus to the first one. */
export function focusInvalidField(form: HTMLElement | null): void {
  const invalid = form?.querySelector<HTMLElement>('[aria-invalid=true], [role=alert]')
  if (invalid?.role === 'alert') invalid.scrollIntoView({ block: 'center' })
  else invalid?.focus()
}
