r"""Byte sequences over all controls that tmux interprets, one scenario each.

Notation: ``\e`` is ESC; ``\n``, ``\r``, ``\t``, ``\b``, ``\f``, ``\v``, ``\a`` and octal bytes as in printf(1);
``<row>`` is as many digits as the pane is wide, ``<row-1>`` and ``<row+3>`` accordingly, ``<W>`` and ``<H>`` are the
numbers themselves. The terminal turns ``\n`` into CR LF; a sequence in ``RAW_SEQUENCES`` is printed without that.
"""

import re
from pathlib import Path

from tests.live.text_differential.scenario import SMALL_SIZES, Scenario

SAMPLE_SIZES = SMALL_SIZES[:2]
"""Sizes whose texts are recorded for `make test`."""

SEQUENCES = {
    # Tabs, backspace, carriage return, the right edge
    "tabs": r"a\tb\n1234567\ty\n12345678\tz\n",
    "tabs_to_edge": r"x\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\tend\nnext\n",
    "tab_over_text": r"abcdefghijkl\r\tX\n",
    "tab_stops_set_and_cleared": r"\e[3g\e[5G\eH\e[11G\eH\r1\t2\t3\t4\n\e[11G\e[0g\r1\t2\t3\n",
    "back_tab": r"abcdefghijk\e[ZX\n",
    "back_tab_twice": r"abcdefghijklmnopqrstuvw\e[2ZX\n",
    "back_tab_at_edge": r"<row>\e[ZX\n",
    "tab_uses_no_row": r"\n\t\e[H\e[Jx\n",
    "forward_tabs_ignored": r"ab\e[3Icd\n",
    "return_overwrites": r"a long first text\rshort\n",
    "return_and_erase": r"a long first text\r\e[Kshort\n",
    "return_in_wrapped_row": r"<row>abc\rX\n",
    "return_at_pending_wrap": r"<row>\rX\n",
    "newline_at_pending_wrap": r"<row>\nnext\n",
    "newlines_at_pending_wrap": r"<row>\n\n<row>\n<row>x\n",
    "backspace_at_pending_wrap": r"<row>\bY\n",
    "backspace_over_wrap": r"<row>a\b\b\bZ\n",
    "backspace_in_first_column": r"\b\bab\b\b\b\bX\n",
    "backspace_does_not_cross_lines": r"abc\n\b\bX\n",
    "text_of_two_rows": r"<row><row>tail\n",
    "text_without_end": r"no newline at the end",
    "pending_wrap_at_end": r"one\n<row>",
    "column_0_after_wrap_erase": r"<row>abc\e[2Kx\n",
    "erase_right_at_pending_wrap": r"<row>\e[Kx\n",
    "erase_left_at_pending_wrap": r"<row>\e[1Kx\n",
    "erase_row_at_pending_wrap": r"<row>\e[2Kx\n",
    "erase_below_at_pending_wrap": r"<row>\e[Jx\n",
    "cursor_left_at_pending_wrap": r"<row>\e[DX\n",
    "cursor_left_3_at_pending_wrap": r"<row>\e[3DXY\n",
    "cursor_right_at_pending_wrap": r"<row>\e[CX\n",
    "cursor_up_at_pending_wrap": r"one\n<row>\e[AX\n\n",
    "cursor_down_at_pending_wrap": r"<row>\e[BX\n",
    "column_at_pending_wrap": r"<row>\e[<W>GX\nnext\n",
    "tab_at_pending_wrap": r"<row>\tX\n",
    "delete_at_pending_wrap": r"<row>\e[PX\n",
    "insert_at_pending_wrap": r"<row>\e[@X\n",
    "erase_characters_at_pending_wrap": r"<row>\e[XY\n",
    "save_at_pending_wrap": r"<row>\e7\n\e8X\n\n",
    "rejoined_by_return_to_edge": r"<row>tail\e[A\e[<W>GXY\n\n",
    "typed_over_wrap": r"$ echo <row-3>\e[A\r\e[7CX\n\n",
    "prompt_end_of_line_mark": r"%<row-1>\r \r\e[J$ ls\nfile\n",
    "prompt_mark_of_zsh": r"partial%<row-8>\r \r\e[J$ \n",
    "wrap_then_erase_first": r"<row>tail\e[A\r\e[2KX\n\n",
    "wrap_then_erase_second": r"<row>tail\r\e[KX\n",
    "wrap_then_shorten_first": r"<row>tail\e[A\r\e[10C\e[K\n\n",
    "no_wrap_mode": r"\e[?7l<row+3>ABC\e[?7h\nnext\n",
    "no_wrap_mode_wide": r"\e[?7l<row-1>漢字\e[?7h\nnext\n",
    # Linefeeds
    "vertical_tab": r"one\vtwo\n",
    "form_feed": r"page 1\fpage 2\n",
    "index": r"one\eDtwo\n",
    "next_line": r"one\eEtwo\n",
    "reverse_index_at_top": r"one\ntwo\n\eM\eM\eMX\n\n\n",
    "reverse_index": r"one\ntwo\n\eM\eMX\n\n\n",
    "scroll_by_newlines": r"1\n2\n3\n4\n5\n6\n7\n8\n9\n",
    "blank_lines": r"a\n\n\nb\n\n\n\n\n\n\n\nc\n",
    # Cursor movement
    "rewrite_two_rows": r"a 1\nb 1\n\e[2A\e[2Ka 2\n\e[2Kb 2\n",
    "result_at_the_end": r"test one ...\n\e[A\e[12C ok\n",
    "next_and_previous_row": r"l1\nl2\nl3\e[2FL1\e[EL2\n\n",
    "cursor_home_and_rows": r"\e[2J\e[1;1Hrow1\e[3;1Hrow3\e[2;1Hrow2\e[5;1H",
    "cursor_beyond_the_edge": r"\e[99;999Hx\e[Hy\n",
    "cursor_to_zero": r"abc\e[0;0HX\n",
    "cursor_up_beyond": r"abc\n\e[99AX\n",
    "cursor_down_beyond": r"abc\e[99BX\n",
    "cursor_left_beyond": r"abc\e[99DX\n",
    "cursor_right_beyond": r"left\e[999C\e[4Dright\n",
    "column_absolute": r"abcdef\e[3GX\e[`Y\n",
    "row_absolute": r"abc\n\n\e[1dX\e[4dY\n",
    "relative_row_ignored": r"abc\e[2eX\e[2aY\n",
    "next_row_at_bottom": r"1\n2\n3\n4\n5\n6\e[EX\n",
    "save_and_restore": r"top\n\e7\e[<H>;1fProgress 20%\e8mid\n",
    "save_and_restore_ansi": r"top\n\e[s\e[<H>;1HProgress\e[umid\n",
    "restore_without_save": r"abc\n\e8X\n",
    "save_survives_scroll": r"a\e7\n\n\n\n\n\n\n\n\e8b\n",
    "huge_numbers": r"abc\e[99999999999Cd\e[99999999999De\n",
    "zero_counts": r"abc\e[0DX\e[0CY\n",
    "gaps_between_texts": r"a\e[5Cb\e[2;20Hc\n",
    # Erasing
    "erase_left_of_cursor": r"abcdef\e[3D\e[1KX\n",
    "erase_screen": r"a\nb\n\e[2J\e[Hc\n",
    "erase_screen_twice": r"a\nb\n\e[2J\e[H\e[2Jc\n",
    "erase_screen_below_home": r"a\nb\n\e[H\e[Jc\n",
    "erase_screen_above": r"a\nb\nc\e[A\e[1JX\n\n\n",
    "erase_screen_below": r"a\nb\nc\n\e[2A\e[JX\n",
    "erase_in_the_middle_of_a_row": r"abcdef\nghi\e[A\e[J\n",
    "erase_characters": r"abcdef\r\e[2Xgh\n",
    "erase_characters_beyond": r"abcdef\r\e[99Xgh\n",
    "erase_characters_in_wrapped_row": r"<row>abcdef\e[A\r\e[5X\n\n",
    "erase_saved_lines": r"1\n2\n3\n4\n5\n6\n7\n8\n\e[3Jx\n",
    "clear_of_tmux_terminfo": r"1\n2\n3\n4\n5\n6\n7\n\e[H\e[J\e[3Jx\n",
    "selective_erase_ignored": r"abc\n\e[?2J\e[?Kx\n",
    # Inserting and deleting
    "insert_row": r"one\ntwo\e[1LX\n\n",
    "insert_rows": r"one\ntwo\nthree\e[2A\e[3LX\n\n\n\n\n",
    "insert_rows_beyond": r"one\ntwo\nthree\e[2A\e[99LX\n",
    "delete_row": r"one\ntwo\nthree\e[2A\e[M\e[2B\n",
    "delete_rows_beyond": r"one\ntwo\nthree\e[2A\e[99MX\n",
    "delete_row_of_wrapped_line": r"<row>tail\nx\e[2A\e[M\n\n",
    "delete_second_row_of_wrapped_line": r"<row>tail\nx\e[A\e[M\n\n",
    "insert_row_in_wrapped_line": r"<row>tail\e[LX\n\n",
    "insert_characters": r"abcdef\e[3D\e[2@XY\n",
    "insert_characters_beyond": r"abcdef\e[3D\e[999@XY\n",
    "insert_characters_in_full_row": r"<row>\r\e[3@XYZ\n",
    "insert_in_wrapped_row": r"<row>tail\e[A\r\e[3@XYZ\n\n",
    "delete_characters": r"abcdef\e[4D\e[2P!\n",
    "delete_characters_beyond": r"abcdef\e[4D\e[999P!\n",
    "delete_in_wrapped_row": r"<row>tail\e[A\r\e[3P\n\n",
    "insert_characters_then_wrap": r"ab\e[D\e[@<row>\n",
    "insert_characters_over_half": r"<row-3>\e[<W>D\e[9C\e[<W>@X\n",
    "insert_characters_in_empty_row": r"\e[3@\e[H\e[Ja\n",
    "delete_characters_in_empty_row": r"\e[P\e[2Jw\n",
    "delete_half_of_wide": r"漢.\r\e[1P0\n",
    "delete_up_to_half_of_wide": r"漢aaaaa漢\e[3G\e[6PX\n",
    "insert_mode": r"echo wrld\e[3D\e[4ho\e[4l\n",
    "insert_mode_at_edge": r"<row>\r\e[4hXY\e[4l\n",
    "insert_mode_wide": r"abc\r\e[4h漢\e[4l\n",
    # Regions and scrolling
    "region": r"\e[2;4r\e[4;1Ha\nb\nc\nd\e[r\e[<H>;1H\n",
    "region_at_top": r"\e[1;3rone\ntwo\nthree\nfour\nfive\e[r\e[<H>;1H",
    "region_below_top": r"head\e[2;<H>r\e[<H>;1H1\n2\n3\n4\e[r\e[<H>;1H",
    "region_status_bar": r"\n\n\e7\e[1;5r\e8\e[A1\n2\n3\n4\n5\n6\n7\e7\e[6;1HBAR\e8\n8\n\e[r\e[6;1H\e[K",
    "region_of_one_row_refused": r"a\nb\e[2;2rX\n",
    "region_reversed_refused": r"a\nb\e[4;2rX\n",
    "region_moves_the_cursor_home": r"a\nb\e[1;4rX\e[r",
    "scroll_up": r"1\n2\n3\e[2SX\n",
    "scroll_up_beyond": r"1\n2\n3\e[99SX\n",
    "scroll_down": r"1\n2\n3\e[2TX\n",
    "scroll_up_in_region": r"1\n2\n3\n4\n5\e[2;4r\e[S\e[r\e[6;1H",
    "scroll_down_in_region": r"1\n2\n3\n4\n5\e[2;4r\e[T\e[r\e[6;1H",
    "reverse_index_in_region": r"1\n2\n3\n4\e[2;4r\e[2;1H\eMX\e[r\e[6;1H",
    "cursor_stops_at_region": r"1\n2\n3\n4\n5\e[2;4r\e[3;1H\e[9AU\e[9BD\e[r\e[6;1H",
    "cursor_outside_region": r"\e[2;4r\e[6;1Ha\nb\nc\e[r\e[6;1H",
    "insert_row_in_region": r"1\n2\n3\n4\n5\e[2;4r\e[3;1H\e[LX\e[r\e[6;1H",
    "delete_row_in_region": r"1\n2\n3\n4\n5\e[2;4r\e[3;1H\e[M\e[r\e[6;1H",
    "insert_row_outside_region": r"1\n2\n3\n4\n5\e[2;4r\e[1;1H\e[LX\e[r\e[6;1H",
    "origin_mode": r"\e[2;4r\e[?6h\e[1;1HO\e[9;1HP\e[?6l\e[r\e[6;1H",
    "wrap_in_region": r"\e[2;4r\e[4;1H<row+3>\n<row+3>\e[r\e[6;1H",
    "wrap_out_of_an_empty_row": r"<row>\e[1Ta\n",
    "wrapped_line_leaves_the_screen": r"<row+3>\n1\n2\n3\n4\n5\n6\n7\n",
    "line_longer_than_the_screen": r"<row><row><row><row><row><row><row><row>end\n",
    # Modes, resets, alternate screens
    "repeat": r"=\e[9b\n",
    "repeat_over_the_edge": r"<row-3>=\e[9b\n",
    "repeat_after_movement": r"=\e[C\e[3b|\n",
    "repeat_after_newline": r"=\n\e[3b|\n",
    "repeat_wide": r"漢\e[3b|\n",
    "reset": r"before\n\ecafter\n",
    "reset_in_region": r"a\n\e[2;3r\e[?7l\e[4h\ecb\nc\nd\n<row+3>\n",
    "soft_reset_ignored": r"a\e[4h\e[!p\rXb\n",
    "alternate": r"prompt$ \e[?1049h\e[Hx\e[?1049lback\n",
    "alternate_47": r"prompt$ \e[?47h\e[Hx\e[?47lback\n",
    "alternate_1047": r"one\nprompt$ \e[?1047h\e[3;3Hx\e[?1047lback\n",
    "alternate_keeps_lines": r"1\n2\n3\n4\n5\n6\n7\n\e[?1049h\e[2J\e[Ha\nb\nc\nd\ne\nf\ng\nh\n\e[?1049l8\n",
    "alternate_47_after_1049": r"\e[?1049h0\e[?47lh\n",
    "alternate_over_wrapped_history": r"<row+3>\n1\n2\n3\n4\n\e[?1049hx\e[?1049ly\n",
    "alternate_left_twice": r"a\n\e[?1049h\e[Hx\e[?1049lb\n\e[?1049lc\n",
    "alternate_off_without_on": r"abc\n\e7def\n\e[?1049lX\n\n",
    "alternate_entered_twice": r"a\n\e[?1049h\e[?1049hx\e[?1049lb\n",
    "alternate_with_wrapped_line": r"<row>tail\e[?1049h\e[Hx\e[?1049l more\n",
    "alternate_at_pending_wrap": r"<row>\e[?1049h\e[Hx\e[?1049lmore\n",
    "reset_in_alternate": r"a\n\e[?1049hx\ecb\e[?1049lc\n",
    "cursor_and_paste_modes": r"\e[?25l\e[?2004ha\e[?25h\e[?2004lb\e[?1;9;1000;1006h\e[?1;9;1000;1006lc\n",
    "synchronized_update": r"\e[?2026hframe\r\e[2Kframe 2\e[?2026l\n",
    "several_modes_at_once": r"\e[?7;25l<row+3>\e[?7;25h\n",
    "line_feed_mode_ignored": r"\e[20ha\nb\e[20l\n",
    "alignment_test": r"ab\n\e#8\e[2;2HX\n",
    "keypad_and_charsets": r"\e=\e>a\e(0lqqk\e(Bb\016c\017d\n",
    "graphics_box": r"\e(0lqqqk\nx   x\nmqqqj\e(B\n",
    # Strings
    "title": r"a\e]0;never\nend\007then\n",
    "title_ended_by_st": r"a\e]2;never\e\\then\n",
    "hyperlink": r"\e]8;;http://example.org\e\\link\e]8;;\e\\ text\n",
    "unknown_osc": r"a\e]12345;what\abc\n",
    "osc_broken_by_escape": r"a\e]0;title\e[31mred\n",
    "osc_broken_by_can": r"a\e]0;title\030red\n",
    "device_string": r"a\eP1;2|hidden\nmore\e\\b\n",
    "device_string_with_bell": r"a\ePhidden\astill\e\\b\n",
    "passthrough": r"a\ePtmux;\e\e]0;t\a\e\\b\n",
    "application_string": r"a\e_hidden\ntext\e\\b\n",
    "privacy_string": r"a\e^hidden\ntext\e\\b\n",
    "start_of_string": r"a\eXhidden\ntext\e\\b\n",
    "window_name": r"a\ekname\e\\b\n",
    "sixel": r"a\ePq#0;2;0;0;0~~@@vv\e\\b\n",
    # Broken and unusual sequences
    "newline_inside_csi": r"a\e[3\n1mb\n",
    "return_inside_csi": r"abc\e[3\r1mX\n",
    "backspace_inside_csi": r"abc\e[\b1mX\n",
    "return_inside_escape": r"2\e\r_\e0J\n",
    "cancelled_csi": r"a\e[31\030mb\n",
    "substituted_csi": r"a\e[31\032mb\n",
    "csi_broken_by_escape": r"a\e[31\e[1mb\n",
    "csi_with_intermediate": r"a\e[2 qb\e[!qc\e[1$rd\n",
    "csi_with_colons": r"a\e[38:2:1:2:3mb\e[4:3mc\n",
    "csi_with_private_marks": r"a\e[>4;2mb\e[=1cc\e[<ud\n",
    "csi_unknown_final": r"a\e[5zb\e[5~c\e[5yd\n",
    "csi_with_too_many_parameters": r"a\e[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26mb\n",
    "csi_too_long": r"a\e[1111111111111111111111111111111111111111111111111111111111111111111111111mb\n",
    "csi_with_broken_order": r"a\e[1?2mb\e[ 1mc\n",
    "escape_at_the_end": r"abc\n\e",
    "csi_at_the_end": r"abc\n\e[12",
    "escape_escape": r"a\e\e[31mb\n",
    "unknown_escapes": r"a\e1b\e#3c\e%Gd\e~e\e F\n",
    "escape_dot": r"a\e.b\e.\e[1mc\n",
    "bells_and_nul": r"a\a\ab\000c\177d\005e\n",
    "all_low_controls": r"a\001b\002c\003d\004e\006f\020g\021h\022i\023j\024k\025l\026m\027n\031o\034p\035q\036r\n",
    "device_queries": r"a\e[0n\e[?1nb\n",
    # Characters
    "c1_bytes_are_dropped": r"caf\220 one\ntwo\n",
    "c1_csi_byte": r"sm\233rrebr\233d\n",
    "c1_other_bytes": r"\204Zitat\205 Ende \230\235\236\237.\n",
    "c1_as_utf8": r"\302\2331mx\302\205y\302\220z\n",
    "cut_utf8": r"abc\346\227 def\303\nnext\n",
    "cut_utf8_by_escape": r"abc\346\e[31m\227def\n",
    "invalid_byte_in_an_empty_row": r"<row>\f\265P\n",
    "cut_utf8_by_movement": r"\303\e[1C\357\275\261|\n",
    "overlong_utf8": r"a\300\257b\340\200\200c\n",
    "surrogate_utf8": r"a\355\240\200b\364\220\200\200c\n",
    "invalid_leads": r"a\370\210\200\200\200b\376\377c\n",
    "lead_then_lead": r"a\303\303\251b\346\303\251c\n",
    "four_bytes_cut": r"a\360\237\230b\360\237c\n",
    "combining": r"e\314\201e\314\201abc\rXY\n",
    "combining_in_first_column": r"\314\201abc\n",
    "combining_at_edge": r"<row-1>e\314\201x\n",
    "combining_at_pending_wrap": r"<row>\314\201\nnext\n",
    "wide": r"漢字テスト\nx\n",
    "wide_at_edge": r"<row-1>漢y\n",
    "wide_fits_exactly": r"<row-2>漢y\n",
    "wide_backspace": r"漢字\bY\n",
    "wide_half_overwritten": r"ab漢字\r\e[3CX\n",
    "wide_second_half_overwritten": r"ab漢字\r\e[2CX\n",
    "wide_in_first_column_overwritten": r"漢字\r\e[CX\n",
    "wide_erased_by_half": r"ab漢字cd\r\e[3C\e[K\n",
    "wide_deleted": r"ab漢字cd\r\e[2C\e[2P\n",
    "wide_inserted_before": r"漢字\r\e[@x\n",
    "emoji": r"a👍b👩‍💻c🇩🇪d\n",
    "emoji_overwritten": r"👍👍\rab\n",
    "variation_selectors": r"a❤️b☎︎c\n",
    "zero_width": r"a\342\200\213b\342\200\215c\357\273\277d\n",
    "soft_hyphen_and_nbsp": r"a\302\255b\302\240c\n",
    "hangul_and_arabic": r"한국어 العربية עברית ไทย\n",
    "combining_jamo": r"\341\204\222\341\205\241\341\206\253 x\n",
    "box_drawing": r"┌──┐\n│ok│\n└──┘\n",
    "private_use": r"a\356\202\240b\n",
    "many_combining": r"a\314\200\314\201\314\202\314\203\314\204\314\205\314\206\314\207\314\210\314\211b\n",
    # As programs combine them
    "ink_frames": r"\e[2K\e[1A\e[2K\e[Gbox 1\nrow\n\e[2K\e[1A\e[2K\e[1A\e[2K\e[Gbox 2\nrow\n",
    "list_frames": r"- a\n- b\n- c\n\e[3A\e[J* a\n- b\n- c\n\e[3A\e[J* a\n* b\n* c\n",
    "nested_bars": r"outer 0\ninner 0\e[A\r\e[Kouter 1\n\rinner 9\e[K\n",
    "bar_over_the_edge": r"<row+3>\r\e[K<row+3>\r\e[Kdone\n",
    "pager": r"line 1\nline 2\n:\e[K\r\e[Kline 3\n:\e[K\r\e[K\e[?1l\e>",
    "pager_at_edge": r"<row-1> \b:\e[K\r\e[Kabc\n",
    "menu_redrawn_below": r"? pick\n> a\n  b\e[2A\r\e[J? pick\n  a\n> b\e[2A\r\e[J? pick b\n",
    "completion_list": r"$ ls x\n\ra.txt  b.txt\e[J\e[A\e[6C\e[K.md\e[J\n",
    "bottom_bar_and_scroll": r"1\n2\n3\n4\n5\n\e7\e[6;1H[bar]\e8\e[6;1H\e[K\n6\n7\n\e[6;1H[bar]\r\e[K8\n",
    "coloured_by_word": r"\e[31mred\e[0m \e[1;32mgreen\e[m \e[38;5;200mpink\e[39m \e[48;2;1;2;3mback\e[49m\n",
    "background_erase": r"\e[44mblue\e[K\e[0m\nnext\e[41m\e[2J\e[0m\e[Hx\n",
    "clock_in_the_corner": r"log 1\n\e7\e[1;30H12:00\e8log 2\n\e7\e[1;30H12:01\e8log 3\n",
    "frame_by_erase_screen": r"\e[H\e[2Jf1\nx\n\e[H\e[2Jf2\nx\n\e[H\e[2Jf3\nx\n",
    "frame_by_home": r"\e[H\e[2Jf1\nx\n\e[Hf2\ny\n\e[Hf3\nz\e[J\n",
}
RAW_SEQUENCES = {
    "bare_newline": r"one\ntwo\nthree\r\n",
    "bare_newline_at_edge": r"<row>\nx\r\n",
    "bare_newline_after_wrap": r"<row>abc\nx\r\n",
    "bare_newlines_scroll": r"1\n2\n3\n4\n5\n6\n7\n8\r\n",
    "return_newline_return": r"one\r\n\rtwo\r\r\n\r\nthree\n\r",
}
STORED_DIFFERENTLY = {
    "alternate_47_after_1049": ("modes 1049 and 47 mixed: the cursor of the alternate screen is not followed", r"h"),
    "alternate_over_wrapped_history": (
        "the alternate screen cuts a wrapped line at the top of tmux's screen; it is stored whole",
        r"<row+3>\n1\n2\n3\n4\ny",
    ),
    "cut_utf8_by_movement": ("after a cut character and a sequence, tmux drops the next character, too", " ｱ|"),
    "wide_in_first_column_overwritten": ("tmux keeps a wide character in column 0 whose half is overwritten", " X字"),
    "zero_width": ("a zero-width joiner that joins nothing is not stored", r"a\342\200\213bc\357\273\277d"),
}
"""Sequences that are stored differently from tmux on purpose: the reason, and the text in the same notation."""
_NAMED_BYTES = {
    "e": b"\x1b",
    "n": b"\n",
    "r": b"\r",
    "t": b"\t",
    "b": b"\b",
    "f": b"\f",
    "v": b"\v",
    "a": b"\a",
    "\\": b"\\",
}
_TOKEN = re.compile(r"\\([0-7]{3})|\\(.)|<row([+-]\d+)?>|<([WH])>|(.)", re.DOTALL)


def encode_sequence(notation: str, width: int, height: int) -> bytes:
    return b"".join(_encode_token(match, width, height) for match in _TOKEN.finditer(notation))


def _encode_token(match: re.Match[str], width: int, height: int) -> bytes:
    octal, name, difference, size, character = match.groups()
    if octal:
        return bytes([int(octal, 8)])
    if name:
        return _NAMED_BYTES[name]
    if size:
        return str({"W": width, "H": height}[size]).encode()
    if character:
        return character.encode()
    length = width + int(difference or 0)
    return ("0123456789" * (length // 10 + 1))[:length].encode()


def write_sequences(folder: Path) -> None:
    """Write the bytes of every sequence for every width."""
    for name, notation in (SEQUENCES | RAW_SEQUENCES).items():
        for width, height in SMALL_SIZES:
            (folder / f"{name}-{width}").write_bytes(encode_sequence(notation, width, height))


def _build_scenario(name: str, prepare: str = "") -> Scenario:
    return Scenario(f"seq_{name}", "sequences", f'{prepare}cat "$SEQUENCES/{name}-$COLUMNS_OF_PANE"', sizes=SMALL_SIZES)


SCENARIOS = tuple(_build_scenario(name) for name in SEQUENCES) + tuple(
    _build_scenario(name, "stty -opost; ") for name in RAW_SEQUENCES
)
