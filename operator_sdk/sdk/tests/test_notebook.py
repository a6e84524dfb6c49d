"""Tables for notebooks."""

from __future__ import annotations

from operad_sdk.notebook import html_table


def test_titles_names_and_values_are_escaped() -> None:
    html = html_table("<b>", [("<i>", "a & <script>")])
    assert html == (
        "<div><p><b>&lt;b&gt;</b></p><table>"
        "<tr><th>&lt;i&gt;</th><td>a &amp; &lt;script&gt;</td></tr></table></div>"
    )
