/** The invalid field may be off screen: moves the focus to the first one. */
export function focusInvalidField(form: HTMLElement | null): void {
  const fault = form?.querySelector<HTMLElement>('[aria-invalid=true], [role=alert]')
  if (fault?.role === 'alert') fault.scrollIntoView({ block: 'center' })
  else fault?.focus()
}
