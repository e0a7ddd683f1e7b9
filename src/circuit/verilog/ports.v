// The cells of ports. Words to put come on one of several nets, and requests likewise; the word
// that is got goes to all that may have asked.

// One end puts, the other one gets: with room for BUFFER words, or, without, both at once. A port at
// the chip's edge has OUTSIDE set: the pads take the place of the getting end.
module cell_port #(parameter W = 1, parameter BUFFER = 0, parameter OUTSIDE = 0, parameter P = 1, parameter G = 1) (
    input clk, input rst,
    input [P-1:0] put_d, input [P-1:0] put_c, input [G-1:0] request_c,
    output reg y_d, output reg y_c, output reg done_c, output available_c, output wanted_c,
    output pad_data, output pad_control, input pad_want
);
    localparam ROOM = BUFFER > 0 ? BUFFER : 1;
    reg [W-1:0] taken, live_taken, given, live_given;
    reg [W*ROOM-1:0] words;
    reg [ROOM:0] filled; // one more bit than words: as many ones as there are words
    reg asked;
    wire full = live_taken[0];
    wire there = BUFFER > 0 ? filled[0] : full;
    wire load = asked & there & !live_given[0] & !y_c;
    wire push = BUFFER > 0 & full & !filled[ROOM-1];
    wire pop = load & BUFFER > 0;
    wire [W-1:0] next = BUFFER > 0 ? words[W-1:0] : taken;
    wire leave = push | (load & BUFFER == 0);
    integer i;
    assign available_c = full | filled[0];
    assign wanted_c = asked;
    assign pad_data = y_d;
    assign pad_control = y_c;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, done_c, asked} <= 4'b0000;
            taken <= 0;
            live_taken <= 0;
            given <= 0;
            live_given <= 0;
            words <= 0;
            filled <= 0;
        end else begin
            done_c <= leave;
            asked <= OUTSIDE ? pad_want : (asked & !load) | |request_c;
            if (leave)
                live_taken <= 0;
            else if (!full) begin
                taken <= {|put_d, taken} >> 1;
                live_taken <= {|put_c, live_taken} >> 1;
            end
            y_d <= load ? next[0] : given[0] & live_given[0];
            y_c <= load | live_given[0];
            given <= (load ? next : given) >> 1;
            live_given <= load ? {W{1'b1}} >> 1 : live_given >> 1;
            // The oldest word is at the low end. A push goes to the first free place, which a pop
            // at the same time has moved.
            if (pop) begin
                words <= words >> W;
                filled <= filled >> 1;
            end
            if (push) begin
                filled <= pop ? filled : {filled, 1'b1};
                for (i = 0; i < ROOM; i = i + 1)
                    if ((pop ? filled[i] & !filled[i+1] : !filled[i] & (i == 0 || filled[(i == 0) ? 0 : i-1])))
                        words[i*W +: W] <= taken;
            end
        end
endmodule

// The chip asks for a word with a pulse, and it enters on the pads.
module cell_serial_in #(parameter W = 1, parameter G = 1) (
    input clk, input rst, input [G-1:0] request_c,
    output reg y_d, output reg y_c, output reg available_c,
    input pad_data, input pad_control, input pad_ready, output reg pad_take
);
    always @(posedge clk) begin
        y_d <= !rst & pad_data & pad_control;
        y_c <= !rst & pad_control;
        available_c <= !rst & pad_ready;
        pad_take <= !rst & |request_c;
    end
endmodule

// Pads for each bit: a request samples them, a word drives them.
module cell_parallel #(parameter W = 1, parameter P = 1, parameter G = 1) (
    input clk, input rst,
    input [P-1:0] put_d, input [P-1:0] put_c, input [G-1:0] request_c,
    output reg y_d, output reg y_c, output reg done_c, output reg available_c,
    input [W-1:0] pad_in, input pad_ready, output reg pad_take,
    output reg [W-1:0] pad_out, output reg pad_drive, output reg pad_strobe
);
    reg [W-1:0] taken, live_taken, given, live_given;
    reg asked;
    wire full = live_taken[0];
    wire load = asked & pad_ready & !live_given[0] & !y_c;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, done_c, available_c, pad_take, pad_drive, pad_strobe, asked} <= 8'h00;
            taken <= 0;
            live_taken <= 0;
            given <= 0;
            live_given <= 0;
            pad_out <= 0;
        end else begin
            available_c <= pad_ready;
            asked <= (asked & !load) | |request_c;
            pad_take <= load;
            y_d <= load ? pad_in[0] : given[0] & live_given[0];
            y_c <= load | live_given[0];
            given <= (load ? pad_in : given) >> 1;
            live_given <= load ? {W{1'b1}} >> 1 : live_given >> 1;
            done_c <= full;
            pad_strobe <= full;
            if (full) begin
                live_taken <= 0;
                pad_out <= taken;
            end else begin
                taken <= {|put_d, taken} >> 1;
                live_taken <= {|put_c, live_taken} >> 1;
            end
            pad_drive <= full | (pad_drive & ~|request_c);
        end
endmodule
